"""The hypotheses about a worker, and how probable each makes the worker's flags and verdicts.

A hypothesis has four parts:

- a start: the first block of the worker's work to which the hypothesis applies. Earlier responses
  are bad with probability BAD_BEFORE;
- a failure pattern (see `failure_patterns`);
- a share of bad responses: from the start on, each response is bad with this probability,
  independently of the others;
- a visibility: the probability that a bad response shows the pattern. Other bad responses have the
  flags of a good response.

A share and a visibility together are a level. Levels with a share above GOOD_SHARES are careless.

Arrays over hypotheses have the axes [start, pattern, level]. A tally counts responses and has the
axes [worker, block, pattern, grade, verdict], where each response counts once for each pattern, at
the grade to which it shows the pattern. Plain Python with NumPy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# The axis of verdicts: no verdict yet, judged good, judged bad.
OPEN, GOOD, BAD = range(3)

# The first positions of the blocks of a worker's work, counted from 0. Blocks double in length, so
# that a change is located well at first and a busy worker still has few blocks.
BLOCK_STARTS = (0, 25, 50, 100, 200, 400, 800, 1600, 3200, 6400)
BLOCKS = len(BLOCK_STARTS)

# Shares of bad responses, with their prior probabilities among good and among careless workers.
GOOD_SHARES = {0.003: 0.4, 0.012: 0.3, 0.03: 0.17, 0.05: 0.09, 0.08: 0.04}
CARELESS_SHARES = {0.13: 0.08, 0.2: 0.16, 0.28: 0.18, 0.38: 0.18, 0.5: 0.16, 0.7: 0.14, 0.92: 0.1}
# Visibilities, equally probable.
VISIBILITIES = (0.35, 0.8)
# The share of bad responses before a worker became careless.
BAD_BEFORE = 0.01
# With probability HABIT_SHARE, a good worker has a habit that multiplies the usual rate of a
# pattern's flags by one of these factors, which are equally probable.
HABITS = (0.3, 3.0, 10.0, 30.0)
HABIT_SHARE = 0.1

# Ten equally probable points of the normal distribution: the medians of its tenths.
TENTHS = np.array([NormalDist().inv_cdf(point / 20) for point in range(1, 20, 2)])
# A table of the normal distribution function. Linear interpolation is off by less than 1e-6.
NORMAL_AT = np.linspace(-8, 8, 4001)
NORMAL_BELOW = np.array([NormalDist().cdf(point) for point in NORMAL_AT])
# Levels are a coarse grid. This standard deviation, relative to the expected number of bad
# responses without a verdict, stands for the shares between two levels.
BETWEEN_LEVELS = 0.25

# The share and the visibility of each level, [level].
SHARE, VISIBILITY = (
    axis.ravel()
    for axis in np.meshgrid(
        np.array([*GOOD_SHARES, *CARELESS_SHARES]), np.array(VISIBILITIES), indexing="ij"
    )
)
IS_CARELESS = max(GOOD_SHARES) < SHARE
# The prior probability of each level among good or careless workers.
LEVEL_WEIGHT = np.repeat(
    [*GOOD_SHARES.values(), *CARELESS_SHARES.values()], len(VISIBILITIES)
) / len(VISIBILITIES)


def block_of(position: int) -> int:
    """The block of the response at this position of a worker's work, counted from 0."""
    return int(np.searchsorted(BLOCK_STARTS, position, side="right")) - 1


@dataclass(frozen=True)
class Chances:
    """Probabilities for a single response under each hypothesis, given its grade.

    `likelihood` is the probability of the grade relative to that in good work and `bad` the
    probability that the response is bad; both [pattern, grade, level]. `bad_before` is the
    probability that a response before the start is bad, [grade].
    """

    likelihood: Array
    bad: Array
    bad_before: Array

    @classmethod
    def of(cls, if_good: Array, if_shown: Array, slips: Array) -> "Chances":
        """From the shares of the grades among good responses and among bad ones that show their
        pattern, and from the probability of slips; all [pattern, grade]."""
        ratio = VISIBILITY * (if_shown / if_good)[:, :, None] + 1 - VISIBILITY
        likelihood = SHARE * ratio + 1 - SHARE
        bad = 1 - (1 - SHARE * ratio / likelihood) * (1 - slips[:, :, None])
        bad_before = 1 - (1 - BAD_BEFORE) * (1 - slips[0])
        return cls(likelihood, np.minimum(bad, 1 - 1e-9), bad_before)


def log_likelihood(tally: Array, chances: Chances, if_good: Array, if_shown: Array) -> Array:
    """The log likelihood of each worker's flags and verdicts under each hypothesis, relative to
    that of the flags in good work, [worker, start, pattern, level]."""
    later = np.empty((*chances.bad.shape[:2], 3, len(SHARE)))
    later[:, :, OPEN] = np.log(chances.likelihood)
    later[:, :, GOOD] = np.log(chances.likelihood) + np.log1p(-chances.bad)
    later[:, :, BAD] = np.log(chances.likelihood) + np.log(chances.bad)
    # The first pattern ("no flag") has the grades that slips depend on.
    judged = tally[:, :, 0]
    by_block = judged[..., GOOD] @ np.log1p(-chances.bad_before)
    by_block += judged[..., BAD] @ np.log(chances.bad_before)
    before = (np.cumsum(by_block, axis=1) - by_block)[:, :, None]
    habit = _log_habit(tally, if_good, if_shown)
    return from_block_on(_weighted(tally, later)) + (before - habit[:, None])[..., None]


def _log_habit(tally: Array, if_good: Array, if_shown: Array) -> Array:
    """The log likelihood of the flags in good work if habits are possible, relative to good work
    without habits, [worker, pattern]; 0 for the pattern "no flag"."""
    is_evidence = if_shown > 0
    without_bad = tally[..., [OPEN, GOOD]].sum(axis=(1, 4))
    shown = (without_bad * is_evidence).sum(axis=2)
    not_shown = (without_bad * ~is_evidence).sum(axis=2)
    usual = np.minimum((if_good * is_evidence).sum(axis=1), 0.9)
    rates = np.minimum(np.array(HABITS)[:, None, None] * usual, 0.9)
    by_habit = shown * np.log(rates / usual) + not_shown * np.log((1 - rates) / (1 - usual))
    no_habit = np.full((1, *shown.shape), np.log1p(-HABIT_SHARE))
    habits = by_habit + np.log(HABIT_SHARE / len(HABITS))
    has_flags = ~is_evidence[:, 0]
    return np.where(has_flags, np.logaddexp.reduce(np.concatenate([no_habit, habits])), 0.0)


def expected_bad(tally: Array, chances: Chances) -> tuple[Array, Array]:
    """The mean and the variance of the number of bad responses from the start of each hypothesis
    on, judged ones included; both [worker, start, pattern, level]."""
    mean = np.zeros((*chances.bad.shape[:2], 3, len(SHARE)))
    mean[:, :, OPEN] = chances.bad
    mean[:, :, BAD] = 1
    variance = mean * (1 - mean)
    return from_block_on(_weighted(tally, mean)), from_block_on(_weighted(tally, variance))


def chance_bad_by_pattern(posterior: Array, chances: Chances) -> Array:
    """The contribution of each pattern's hypotheses to the probability that a response is bad, by
    its block and its grade, [block, pattern, grade]."""
    started = np.cumsum(posterior, axis=0)
    added: Array = np.einsum("bkh,kgh->bkg", started, chances.bad, optimize=True)
    return added


def chance_over(tally: Array, chances: Chances, limit: float) -> Array:
    """The probability that more than `limit` of the responses from the start of each hypothesis on
    are bad, [worker, start, pattern, level]. It concerns the responses written so far, and uses a
    normal approximation of their number of bad ones."""
    mean, variance = expected_bad(tally, chances)
    written = from_block_on(tally[:, :, 0].sum(axis=(2, 3)))
    most = np.floor(limit * written + 1e-9)[:, :, None, None]
    deviations = (mean - most - 0.5) / np.sqrt(variance + 1e-6)
    over: Array = np.interp(deviations, NORMAL_AT, NORMAL_BELOW)
    return over


def bad_count_points(tally: Array, chances: Chances) -> Array:
    """Ten equally probable numbers of bad responses of one worker under each hypothesis, judged
    ones included, [start, pattern, level, point]. `tally` is the worker's, without that axis."""
    mean, variance = (one[0] for one in expected_bad(tally[None], chances))
    judged_bad = tally[:, 0, :, BAD].sum(axis=1)
    judged_later = np.cumsum(judged_bad[::-1])[::-1, None, None]
    unjudged = mean - judged_later
    deviation = np.sqrt(variance + (BETWEEN_LEVELS * unjudged) ** 2)
    numbers: Array = (judged_bad.sum() + unjudged)[..., None] + deviation[..., None] * TENTHS
    return numbers


def quantiles(values: Array, weights: Array, shares: Sequence[float]) -> Array:
    """Weighted quantiles. Weights below a millionth of the largest are ignored."""
    counts = weights > 1e-6 * weights.max()
    values, weights = values[counts], weights[counts]
    order = np.argsort(values)
    up_to = np.cumsum(weights[order])
    places = np.searchsorted(up_to, np.array(shares) * up_to[-1])
    found: Array = values[order][np.minimum(places, len(order) - 1)]
    return found


def from_block_on(values: Array) -> Array:
    """Sums over each block (axis 1) and all later ones."""
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1]


def _weighted(tally: Array, values: Array) -> Array:
    """Sums of `values` [pattern, grade, verdict, level] over the responses that the tally counts,
    [worker, block, pattern, level]."""
    workers, blocks, patterns = tally.shape[:3]
    by_pattern = tally.reshape(workers * blocks, patterns, -1).transpose(1, 0, 2)
    product = by_pattern @ values.reshape(patterns, -1, len(SHARE))
    return product.transpose(1, 0, 2).reshape(workers, blocks, patterns, len(SHARE))
