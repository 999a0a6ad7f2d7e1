"""A stand-in for Prolific, in memory, for tests and for trying the marketplace out.

It reads Prolific's reference for itself and imports nothing of the marketplace's, so that the two
cannot share a mistake.
"""
