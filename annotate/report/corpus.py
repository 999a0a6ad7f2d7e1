"""Captions as arrays of word numbers, so that a hundred thousand can be counted in seconds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
LONGEST = 4


class NGrams(NamedTuple):
    """The number of the n-gram at each place, and the index of the caption that it is in."""

    numbers: Numbers
    captions: Numbers

    @property
    def unique(self) -> int:
        return int(self.numbers.max()) + 1 if self.numbers.size else 0


@dataclass(frozen=True)
class Corpus:
    """`numbers[starts[i]:starts[i + 1]]` are the words of caption i, as indices of `vocabulary`."""

    vocabulary: Sequence[str]
    numbers: Numbers
    starts: Numbers

    @classmethod
    def of(cls, captions: Iterable[Sequence[str]]) -> Self:
        known: dict[str, int] = {}
        numbers: list[int] = []
        starts = [0]
        for caption in captions:
            numbers += [known.setdefault(word, len(known)) for word in caption]
            starts.append(len(numbers))
        return cls(list(known), np.array(numbers, np.int64), np.array(starts, np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def lengths(self) -> Numbers:
        """The number of words of each caption."""
        return np.diff(self.starts)

    @cached_property
    def captions(self) -> Numbers:
        """The caption of each word."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    @property
    def types(self) -> int:
        """The number of different words."""
        return np.unique(self.numbers).size

    def take(self, captions: Numbers) -> "Corpus":
        """The corpus of these captions, in this order, with the same vocabulary."""
        lengths = self.lengths[captions]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        shifts = np.repeat(self.starts[captions] - starts[:-1], lengths)
        return Corpus(self.vocabulary, self.numbers[np.arange(starts[-1]) + shifts], starts)

    def ngrams(self) -> Iterator[NGrams]:
        """The 1- to 4-grams, none of which crosses the end of a caption."""
        places = np.arange(self.numbers.size)
        ends = np.repeat(self.starts[1:], self.lengths)
        numbers = np.zeros(self.numbers.size, np.int64)
        for length in range(1, LONGEST + 1):
            inside = places + length <= ends[places]
            places = places[inside]
            keys = numbers[inside] * max(len(self.vocabulary), 1)
            keys += self.numbers[places + length - 1]
            numbers = np.unique(keys, return_inverse=True)[1]
            yield NGrams(numbers, self.captions[places])

    def texts(self) -> list[list[str]]:
        """The words of each caption."""
        words = [self.vocabulary[number] for number in self.numbers]
        return [words[begin:end] for begin, end in zip(self.starts, self.starts[1:], strict=False)]
