"""Campaigns without people: generated scenes, simulated workers and reviewers, and the demo."""
