"""Checks of the demo's results."""
