"""Spot checks, verdicts and decisions in the API."""
