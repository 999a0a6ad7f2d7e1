"""CIDEr-D (Vedantam et al. 2015, sections 3 and 8), as in COCO's caption evaluation.

The mean cosine similarity of the candidate's and the references' n-grams, weighted by how rare
they are in the references of all images. The candidate's counts are clipped to the reference's, and
a difference in length is penalised.
"""

import numpy as np

from corpora.evaluation.metrics.base import (
    Floats,
    Measured,
    NoFigure,
    Sentences,
    measured_means,
    shares,
)
from corpora.evaluation.metrics.ngrams import LONGEST, Ints, Table, sums, tables

NAMES = ("CIDEr",)
SIGMA = 6.0
SCALE = 10.0


def measure(sentences: Sentences) -> Measured:
    """The document frequencies are those of the given references; raises NoFigure."""
    images = len(sentences.candidates)
    if images < 2:
        raise NoFigure(
            "CIDEr needs at least two images: with one, all n-grams are equally frequent."
        )
    references = np.array([*map(len, sentences.references)])
    image_of = np.repeat(np.arange(images), references)
    similarities = sum(_similarities(table, image_of) for table in tables(sentences))
    similarities *= _length_penalties(sentences, image_of)
    means = sums(image_of, similarities, images) / references / LONGEST
    return measured_means(NAMES[0], SCALE * means)


def _similarities(table: Table, image_of: Ints) -> Floats:
    """The cosine similarity of each reference with the candidate of its image."""
    images, references = int(image_of[-1]) + 1, table.references
    rarity = _rarity(table, images)
    reference = references.caption - images
    weights = references.times * rarity[references.ngram]
    clipped = np.minimum(table.counts_in_candidates(references) * rarity[references.ngram], weights)
    products = sums(reference, clipped * weights, len(image_of))
    own_weights = table.candidates.times * rarity[table.candidates.ngram]
    own_norms = np.sqrt(sums(table.candidates.image, own_weights**2, images))
    norms = np.sqrt(sums(reference, weights**2, len(image_of))) * own_norms[image_of]
    return shares(products, norms)


def _rarity(table: Table, images: int) -> Floats:
    """The logarithm of the images per image whose references have the n-gram, by n-gram."""
    in_images = np.unique(table.keys(table.references)) % table.ngrams
    frequencies = np.bincount(in_images, minlength=table.ngrams)
    return np.asarray(np.log(images) - np.log(np.maximum(1, frequencies)))


def _length_penalties(sentences: Sentences, image_of: Ints) -> Floats:
    own = np.array([_length(caption) for caption in sentences.candidates])
    others = np.array([_length(text) for texts in sentences.references for text in texts])
    return np.asarray(np.exp(-((own[image_of] - others) ** 2) / (2 * SIGMA**2)))


def _length(caption: str) -> int:
    """The number of bigrams, which COCO's evaluation takes for the length."""
    return max(0, len(caption.split()) - 1)
