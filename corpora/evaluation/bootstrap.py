"""Intervals of figures, and comparisons of two results, by the bootstrap over images.

Images are drawn with replacement, and the figures are computed again from the sums of their
statistics (Koehn 2004, "Statistical significance tests for machine translation evaluation").
CIDEr's document frequencies stay those of the images that were scored.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from corpora.evaluation.metrics import Floats, Measured
from corpora.evaluation.scoring import Group

LEVEL = 0.95
RESAMPLES = 1000
# Numbers drawn at a time, so that large sets need little memory.
AT_A_TIME = 4_000_000


class Interval(NamedTuple):
    """A percentile interval of 95 %."""

    low: float
    high: float


class Difference(NamedTuple):
    """The second results' figure minus the first's.

    `p` is twice the share of resamples in which the difference is 0 or has the other sign, at most
    1 and at least one resample's share. One that is the same in nearly all has no interval.
    """

    difference: float
    interval: Interval | None
    p: float


def intervals(group: Group, *, resamples: int = RESAMPLES, seed: int = 0) -> dict[str, Interval]:
    """The interval of each figure of the group by name; a seed always gives the same.

    A single image has no intervals, and a figure that is the same in nearly all resamples has none.
    """
    drawn = _resampled(group.measured, len(group.images), resamples, seed)
    return {
        name: interval
        for name, figures in drawn.items()
        if (interval := interval_of(figures)) is not None
    }


def compare(
    first: Group, second: Group, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Difference]:
    """The differences of the figures that both results of the same images have, by name."""
    size = len(first.images)
    before = _resampled(first.measured, size, resamples, seed)
    after = _resampled(second.measured, size, resamples, seed)
    was, now = first.figures, second.figures
    return {
        name: _difference(now[name] - was[name], after[name] - before[name])
        for name in before
        if name in after
    }


def _difference(difference: float, drawn: Floats) -> Difference:
    least = 1 / len(drawn)
    p = 2 * float(min(np.mean(drawn <= 0), np.mean(drawn >= 0)))
    return Difference(difference, interval_of(drawn), min(1.0, max(p, least)))


def interval_of(figures: Floats) -> Interval | None:
    """The interval of a figure from its values in resamples; None if it would have no width."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(figures, [tail, 1 - tail])
    return None if np.isclose(low, high) else Interval(float(low), float(high))


def _resampled(
    measured: Sequence[Measured], images: int, resamples: int, seed: int
) -> dict[str, Floats]:
    """Each figure in each resample; none of a single image, which is the same in all."""
    if not measured or images < 2:
        return {}
    statistics = np.hstack([metric.statistics for metric in measured])
    sums = np.concatenate(
        [counts @ statistics for counts in draws(images, resamples, seed, images)]
    )
    ends = np.cumsum([metric.statistics.shape[1] for metric in measured])[:-1]
    drawn: dict[str, Floats] = {}
    for metric, own in zip(measured, np.split(sums, ends, axis=1), strict=True):
        drawn |= zip(metric.names, metric.combine(own, images).T, strict=True)
    return drawn


def draws(images: int, resamples: int, seed: int, width: int) -> Iterator[Floats]:
    """How often each image is drawn in each resample, some resamples at a time.

    `width` is how many numbers are computed of each resample, so that memory is bounded.
    """
    random = np.random.default_rng(seed)
    for begin in range(0, resamples, step := max(1, AT_A_TIME // width)):
        rows = min(step, resamples - begin)
        drawn = random.integers(images, size=(rows, images)) + images * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * images)
        yield counts.reshape(rows, images).astype(float)
