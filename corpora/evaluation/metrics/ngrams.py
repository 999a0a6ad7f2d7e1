"""Count the n-grams of captions as arrays. Loops over dictionaries take twenty times as long."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpora.evaluation.metrics.base import Floats, Sentences

LONGEST = 4
Ints = NDArray[np.int64]


class Counts(NamedTuple):
    """Rows of (image, caption, n-gram, times). Captions are numbered over all images."""

    image: Ints
    caption: Ints
    ngram: Ints
    times: Ints


class Table(NamedTuple):
    """The n-grams of one length, numbered below `ngrams`, in candidates and references.

    The number of a candidate's caption is that of its image.
    """

    ngrams: int
    candidates: Counts
    references: Counts

    def keys(self, counts: Counts) -> Ints:
        """A number for each pair of image and n-gram."""
        return counts.image * self.ngrams + counts.ngram

    def counts_in_candidates(self, counts: Counts) -> Ints:
        """How often the candidate of each row's image contains its n-gram."""
        keys = self.keys(self.candidates)
        return np.asarray(looked_up(keys, self.candidates.times, self.keys(counts)))


def looked_up(keys: Ints, values: Ints, wanted: Ints) -> Ints:
    """The value at each wanted key, 0 if there is none; `keys` are sorted and different."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=values.dtype)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], 0)


def sums(rows: Ints, values: Floats | Ints, length: int) -> Floats:
    """The sum of the values by row number."""
    return np.bincount(rows, values.astype(float), length).astype(float)


def tables(sentences: Sentences) -> Iterator[Table]:
    """The n-grams of length 1, 2, 3 and 4."""
    images = len(sentences.candidates)
    captions = [*sentences.candidates, *chain.from_iterable(sentences.references)]
    image_of = np.concatenate(
        [np.arange(images), np.repeat(np.arange(images), [*map(len, sentences.references)])]
    )
    words, caption_of = _numbered(captions)
    # How many words of the caption follow, this one included.
    left = np.bincount(caption_of, minlength=len(captions)).cumsum()[caption_of] - np.arange(
        len(words)
    )
    vocabulary = int(words.max(initial=0)) + 1
    ngram = words.copy()
    for length in range(1, LONGEST + 1):
        begins = np.flatnonzero(left >= length)
        if length > 1:
            longer = ngram[begins] * vocabulary + words[begins + length - 1]
            ngram[begins] = np.unique(longer, return_inverse=True)[1]
        size = int(ngram[begins].max(initial=0)) + 1
        found, times = np.unique(caption_of[begins] * size + ngram[begins], return_counts=True)
        caption, number = np.divmod(found, size)
        counts = Counts(image_of[caption], caption, number, times)
        split = int(np.searchsorted(caption, images))
        yield Table(
            size, Counts(*(c[:split] for c in counts)), Counts(*(c[split:] for c in counts))
        )


def _numbered(captions: list[str]) -> tuple[Ints, Ints]:
    """The words of all captions as numbers, and the caption of each word."""
    numbers: dict[str, int] = {}
    split = [caption.split() for caption in captions]
    words = [numbers.setdefault(word, len(numbers)) for word in chain.from_iterable(split)]
    return np.array(words, dtype=np.int64), np.repeat(np.arange(len(split)), [*map(len, split)])
