"""How far figures order captions, and the systems that wrote them, as people do.

Kendall's tau-b and tau-c (Kendall 1945; Stuart 1953), Spearman's and Pearson's coefficients, and
pairwise accuracy: of the pairs that people tell apart, the share that the figures order alike,
where equal figures count half. Intervals are percentile intervals of a bootstrap over images.
"""

from collections.abc import Sequence
from itertools import chain, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpora.evaluation.bootstrap import AT_A_TIME, LEVEL, RESAMPLES, Interval, draws, interval_of
from corpora.evaluation.judgements import Caption
from corpora.evaluation.metrics import Floats, Measured, shares

Indices = NDArray[np.intp]
# Means differ by less, as a share of the largest, if they differ by the order of their sums alone.
ROUNDING = 1e-12
COEFFICIENTS = ("tau_b", "tau_c", "spearman", "pearson", "accuracy")


class Coefficient(NamedTuple):
    """A coefficient, NaN where all figures or all scores are the same, and its interval.

    It has none with 0 resamples, a single image, if it is NaN in a resample, or if it
    `is_constant`: the same in nearly all of them.
    """

    value: float
    interval: Interval | None
    is_constant: bool


class Judged(NamedTuple):
    """People's ratings: arrays with one element for each caption of each system.

    `images` ascends. Pairs of the same `block`, which is inside an image, are compared for the
    accuracy per caption. Without `has_scale`, scores compare captions inside their block alone, so
    that no other coefficient is computed per caption.
    """

    images: Indices
    systems: Indices
    blocks: Indices
    scores: Floats
    has_scale: bool = True


def judged_of(
    captions: Sequence[Caption], scores: Sequence[float], systems: Sequence[str]
) -> Judged:
    """What people said of captions, which are in the order of their images."""
    images = {image: place for place, image in enumerate(dict.fromkeys(c.image for c in captions))}
    numbers = {name: number for number, name in enumerate(systems)}
    blocks = [
        images[caption.image] if caption.comparison is None else caption.comparison
        for caption in captions
    ]
    return Judged(
        np.array([images[caption.image] for caption in captions]),
        np.array([numbers[caption.source] for caption in captions]),
        np.unique(blocks, return_inverse=True)[1],
        np.array(scores, dtype=float),
        has_scale=captions[0].comparison is None,
    )


class Agreement(NamedTuple):
    """The coefficients by name, per caption and per system, and each system's figure and score."""

    captions: dict[str, Coefficient]
    systems: dict[str, Coefficient]
    figures: Floats
    scores: Floats


def agreement(
    judged: Judged, metric: Measured, figure: str, *, resamples: int, seed: int
) -> Agreement:
    """How far a figure of the metric agrees with people's scores.

    The metric's statistics are in the order of the judged captions. A system's figure is computed
    from all its captions, such as BLEU, and not the mean of its captions' figures.
    """
    place = metric.names.index(figure)
    values = metric.combine(metric.statistics, 1)[:, place]
    images = np.unique(judged.images, return_inverse=True)[1]
    people = _of_systems(judged.scores[:, np.newaxis], images, judged.systems)
    own = _of_systems(metric.statistics, images, judged.systems)
    coefficients: list[tuple[Floats, Floats]] = []
    size = int(images[-1]) + 1
    once = np.ones((1, size))
    drawn = draws(size, resamples if size > 1 else 0, seed, len(values))
    for counts in chain([once], drawn):
        figures = metric.combine(_means(counts, own), 1)[..., place]
        scores = _means(counts, people)[..., 0]
        per_caption = _of_captions(judged, values, images, counts)
        coefficients.append((per_caption, _per_system(figures, scores)))
    captions, systems = map(np.concatenate, zip(*coefficients, strict=True))
    return Agreement(
        _coefficients(captions if judged.has_scale else captions[:, -1:]),
        _coefficients(systems),
        metric.combine(_means(once, own), 1)[0, :, place],
        _means(once, people)[0, :, 0],
    )


def told_apart(judged: Judged) -> tuple[Floats, list[tuple[int, int]]]:
    """Each system's mean score, and the pairs (better, worse) that people tell apart: the interval
    of the difference between their means is above 0. One image tells none apart."""
    images = np.unique(judged.images, return_inverse=True)[1]
    people = _of_systems(judged.scores[:, np.newaxis], images, judged.systems)
    size = int(images[-1]) + 1
    counts = np.concatenate([*draws(size, RESAMPLES, 0, size)])
    drawn = _means(counts, people)[..., 0]
    pairs = [
        (better, worse)
        for better, worse in permutations(range(drawn.shape[1]), 2)
        if size > 1 and np.quantile(drawn[:, better] - drawn[:, worse], (1 - LEVEL) / 2) > 0
    ]
    return _means(np.ones((1, size)), people)[0, :, 0], pairs


def _coefficients(rows: Floats) -> dict[str, Coefficient]:
    """The first row has the values, the others are those of the resamples."""
    coefficients = {}
    for name, column in zip(COEFFICIENTS[-rows.shape[1] :], rows.T, strict=True):
        is_defined = len(column) > 1 and bool(np.isfinite(column).all())
        interval = interval_of(column[1:]) if is_defined else None
        coefficients[name] = Coefficient(
            float(column[0]), interval, is_constant=is_defined and interval is None
        )
    return coefficients


def _of_systems(statistics: Floats, images: Indices, systems: Indices) -> Floats:
    """The mean statistics of each image, system: images × systems × (statistics, 1 if any)."""
    sums = np.zeros((images[-1] + 1, systems.max() + 1, statistics.shape[1] + 1))
    np.add.at(sums, (images, systems), np.column_stack([statistics, np.ones(len(images))]))
    return shares(sums, np.broadcast_to(sums[..., -1:], sums.shape))


def _means(counts: Floats, of_systems: Floats) -> Floats:
    """The means over the drawn images: resamples × systems × statistics."""
    sums = np.tensordot(counts, of_systems, axes=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[..., :-1] / sums[..., -1:])


def _per_system(figures: Floats, scores: Floats) -> Floats:
    """Coefficients over systems, in each resample: resamples × COEFFICIENTS."""
    apart, ours = map(_signs, (figures, scores))
    alike = (apart * ours).sum((1, 2)) / 2
    pairs = [np.abs(signs).sum((1, 2)) / 2 for signs in (apart, ours)]
    classes = [(1 / np.maximum(1, (signs == 0).sum(2))).sum(1).round() for signs in (apart, ours)]
    even = np.ones_like(figures)
    taus = _taus(alike, pairs, classes, even.sum(1))
    sides = ((apart.sum(2), ours.sum(2)), (figures, scores))
    linear = [_pearson(x, y, even, pairs) for x, y in sides]
    return np.stack([*taus, *linear, (1 + _divided(alike, pairs[1])) / 2], axis=1)


def _signs(values: Floats) -> Floats:
    """The signs of the differences of all pairs, in each resample; 0 for means that only rounding
    tells apart."""
    apart = values[:, :, np.newaxis] - values[:, np.newaxis]
    rounding = ROUNDING * np.abs(values).max(1)[:, np.newaxis, np.newaxis]
    return np.where(np.abs(apart) <= rounding, 0.0, np.sign(apart))


def _of_captions(judged: Judged, values: Floats, images: Indices, counts: Floats) -> Floats:
    """Coefficients over captions, if images are drawn so often: resamples × COEFFICIENTS."""
    weights = counts[:, images]
    accuracy = _accuracy(judged, values, images, counts)
    if not judged.has_scale:
        return accuracy[:, np.newaxis]
    (own, *ties), (theirs, *others) = (_ranks(x, weights) for x in (values, judged.scores))
    alike = _alike(values, judged.scores, images, counts)
    pairs, classes = zip(ties, others, strict=True)
    taus = _taus(alike, pairs, classes, weights.sum(1))
    sides = ((own, theirs), (values, judged.scores))
    linear = [_pearson(x, y, weights, pairs) for x, y in sides]
    return np.stack([*taus, *linear, accuracy], axis=1)


def _alike(values: Floats, scores: Floats, images: Indices, counts: Floats) -> Floats:
    """Pairs of captions in the same order minus pairs in opposite order, in each resample."""
    starts = np.flatnonzero(np.diff(images, prepend=-1))
    balance = np.zeros(len(counts))
    for begin in range(0, len(values), step := max(1, AT_A_TIME // len(values))):
        rows = slice(begin, begin + step)
        signs = np.sign(values[rows, np.newaxis] - values)
        signs *= np.sign(scores[rows, np.newaxis] - scores)
        by_image = np.add.reduceat(signs, starts, axis=1)
        balance += np.einsum("rc,rc->r", counts[:, images[rows]], counts @ by_image.T)
    return balance / 2


def _accuracy(judged: Judged, values: Floats, images: Indices, counts: Floats) -> Floats:
    """The accuracy over pairs of captions of one block, in each resample."""
    order = np.argsort(judged.blocks, kind="stable")
    right, pairs = np.zeros(counts.shape[1]), np.zeros(counts.shape[1])
    for apart in range(1, np.bincount(judged.blocks).max()):
        one, other = order[:-apart], order[apart:]
        signs = np.sign(judged.scores[one] - judged.scores[other])
        signs *= judged.blocks[one] == judged.blocks[other]
        alike = signs * np.sign(values[one] - values[other])
        right += np.bincount(images[one], np.abs(signs) * (1 + alike) / 2, len(right))
        pairs += np.bincount(images[one], np.abs(signs), len(pairs))
    return _divided(counts @ right, counts @ pairs)


def _ranks(values: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """In each resample: each caption's rank, the pairs of different values, and the values."""
    group = np.unique(values, return_inverse=True)[1]
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    sizes = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks = (np.cumsum(sizes, axis=1) - sizes / 2)[:, group]
    pairs = (weights.sum(1) ** 2 - (sizes**2).sum(1)) / 2
    return ranks, pairs, (sizes > 0).sum(1).astype(float)


def _taus(
    alike: Floats, pairs: Sequence[Floats], classes: Sequence[Floats], size: Floats
) -> tuple[Floats, Floats]:
    """Tau-b and tau-c from the pairs that each side tells apart and its different values."""
    fewest = np.minimum(*classes)
    return (
        _divided(alike, np.sqrt(pairs[0] * pairs[1])),
        _divided(2 * alike * fewest, size**2 * (fewest - 1)),
    )


def _pearson(x: Floats, y: Floats, weights: Floats, pairs: Sequence[Floats]) -> Floats:
    """NaN if a side tells no pairs apart: the spread of equal values may be above 0 by rounding."""
    size = weights.sum(1, keepdims=True)
    own, theirs = (side - (weights * side).sum(1, keepdims=True) / size for side in (x, y))
    both = (weights * own * theirs).sum(1)
    spread = (weights * own**2).sum(1) * (weights * theirs**2).sum(1)
    return _divided(both, np.where(pairs[0] * pairs[1] > 0, np.sqrt(spread), 0.0))


def _divided(parts: Floats, wholes: Floats) -> Floats:
    """The quotients, NaN where a whole is 0."""
    nothing = np.full(wholes.shape, np.nan)
    return np.asarray(np.divide(parts, wholes, out=nothing, where=wholes > 0))
