"""Reads for pages and commands that take more than one query."""
