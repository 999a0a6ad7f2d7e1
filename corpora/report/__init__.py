"""The report on a release or a captions file: its statistics, its figures and its page."""
