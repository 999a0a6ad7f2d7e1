"""Preferences: people say which of two captions of an image is better.

The kind of caption ratings with other questions about other things (`annotate.kinds.rating`), from
which it takes sources, form and marks. `pairs` is the section of the campaign file and chooses what
is compared; `release` creates a release with the ranking (`corpora.evaluation.comparisons`).
"""
