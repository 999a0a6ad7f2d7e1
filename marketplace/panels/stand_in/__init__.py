"""A stand-in for Prolific, in memory, for tests and for trying the site out."""
