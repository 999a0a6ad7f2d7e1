"""Prolific: its API, its words, and its signatures (docs/decisions, the record of the panel)."""
