"""The evaluation server: challenges on releases, submissions, their scores, and boards."""
