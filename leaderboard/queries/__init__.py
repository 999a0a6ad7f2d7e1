"""Reads for pages, the API and commands that take more than one query."""
