"""The sections of the report, one module each: its numbers, its figures and its text."""

from corpora.report.sections import (
    agreement,
    deciles,
    diversity,
    mentions,
    ngrams,
    per_image,
    priming,
    similarity,
    workers,
)
from corpora.report.sections.base import Section

# In the order of the page.
SECTIONS: tuple[Section, ...] = (
    per_image.SECTION,
    ngrams.SECTION,
    mentions.SECTION,
    workers.SECTION,
    priming.SECTION,
    diversity.SECTION,
    agreement.SECTION,
    similarity.SECTION,
    deciles.SECTION,
)
