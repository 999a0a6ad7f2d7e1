"""BLEU-1 to BLEU-4 (Papineni et al. 2002, section 2), as in COCO's caption evaluation."""

import numpy as np

from corpora.evaluation.metrics.base import Floats, Measured, Sentences
from corpora.evaluation.metrics.ngrams import LONGEST, Table, looked_up, sums, tables

NAMES = tuple(f"Bleu_{length}" for length in range(1, LONGEST + 1))
# COCO's evaluation adds these to a share's whole and part, so that 0 of 0 is almost 0.
SMALL, TINY = 1e-9, 1e-15
ORDERS = np.arange(1, LONGEST + 1)


def measure(sentences: Sentences) -> Measured:
    """Statistics of an image: n-grams found in a reference, n-grams, words, reference's words."""
    images = len(sentences.candidates)
    found = np.stack([_found(table, images) for table in tables(sentences)], axis=1)
    words = np.array([len(caption.split()) for caption in sentences.candidates])
    ngrams = np.maximum(0, words[:, np.newaxis] - ORDERS + 1)
    closest = [
        min((abs(length - own), length) for length in (len(text.split()) for text in references))[1]
        for own, references in zip(words.tolist(), sentences.references, strict=True)
    ]
    return Measured(NAMES, np.column_stack([found, ngrams, words, closest]).astype(float), _combine)


def _found(table: Table, images: int) -> Floats:
    """How many of each candidate's n-grams a reference has, each at most as often as in one."""
    keys, places = np.unique(table.keys(table.references), return_inverse=True)
    most = np.zeros(len(keys), dtype=np.int64)
    np.maximum.at(most, places, table.references.times)
    candidates = table.candidates
    allowed = looked_up(keys, most, table.keys(candidates))
    return sums(candidates.image, np.minimum(candidates.times, allowed), images)


def _combine(sums: Floats, images: int) -> Floats:  # noqa: ARG001
    found, ngrams = sums[..., :LONGEST], sums[..., LONGEST : 2 * LONGEST]
    words, closest = sums[..., -2], sums[..., -1]
    precisions = np.cumprod((found + TINY) / (ngrams + SMALL), axis=-1) ** (1 / ORDERS)
    ratio = (words + TINY) / (closest + SMALL)
    brevity_penalty = np.exp(np.minimum(0, 1 - 1 / ratio))
    return np.asarray(precisions * brevity_penalty[..., np.newaxis])
