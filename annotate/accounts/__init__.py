"""Signing in: pages, API tokens, and limits on wrong passwords."""
