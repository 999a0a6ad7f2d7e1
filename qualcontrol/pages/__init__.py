"""Signed-in pages: review, and quality control for researchers."""
