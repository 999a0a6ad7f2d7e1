"""What all metrics have in common."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpora.errors import DomainError

Floats = NDArray[np.float64]


class NoFigure(DomainError):
    """A metric has no figure for these captions; the message gives the reason."""


class Sentences(NamedTuple):
    """Tokenised captions: the references and the candidate of each image, in the same order."""

    references: Sequence[Sequence[str]]
    candidates: Sequence[str]


class Measured(NamedTuple):
    """A metric's statistics, and how to turn their sums into figures.

    `statistics` has a row for each image. `combine` takes sums of rows, in the last axis, and the
    number of images in each sum; it returns the figures of `names` in the last axis. A metric of a
    corpus, such as BLEU, is not the mean of its figures of single images.
    """

    names: tuple[str, ...]
    statistics: Floats
    combine: Callable[[Floats, int], Floats]

    def figures(self, rows: NDArray[np.intp] | slice = slice(None)) -> dict[str, float]:
        """The figures of some images by name."""
        chosen = self.statistics[rows]
        return dict(zip(self.names, self.combine(chosen.sum(axis=0), len(chosen)), strict=True))

    def of_each_image(self) -> dict[str, Floats]:
        """The figures of each image alone by name."""
        return dict(zip(self.names, self.combine(self.statistics, 1).T, strict=True))


def measured_means(name: str, scores: Floats | Sequence[float]) -> Measured:
    """A metric whose figure is the mean of the images' scores."""
    return Measured((name,), np.asarray(scores, dtype=float)[:, np.newaxis], np.divide)


def shares(parts: Floats, wholes: Floats) -> Floats:
    """The parts divided by the wholes, 0 where a whole is 0."""
    return np.asarray(np.divide(parts, wholes, out=np.zeros_like(wholes), where=wholes > 0))
