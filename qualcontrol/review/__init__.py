"""Spot checks: which responses are drawn, what reviewers see, and what they decide."""
