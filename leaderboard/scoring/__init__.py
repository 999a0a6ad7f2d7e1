"""Scoring: a process with limits for each submission, and the loop that runs them."""
