"""Captions as language: characters, words, spelling, and what captions of an image share."""
