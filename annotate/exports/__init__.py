"""Releases as files: captions, correspondences, and what both kinds have in common."""
