"""The cases a worker is held against, and how probable each makes what is known of the worker.

A case is a share of bad responses, the manner in which the bad ones show (a flag, a family of
flags, any flag, or none), how often they show it, and the block of the worker's work since when.
Plain Python with numpy. Cases have the axes [since, manner, level], where a level is a pair of a
share and of how often the manner shows. A tally has the axes [worker, block, manner, grade,
verdict]: how many responses show the manner to which grade, 0 for not at all, and were judged how.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
OPEN, GOOD, BAD = range(3)

# A worker's responses are told apart by when in their work they came. Each block is as long as all
# before it, so that "good at first" is seen and yet nobody has many blocks.
BLOCK_STARTS = (0, 25, 50, 100, 200, 400, 800, 1600, 3200, 6400)
BLOCKS = len(BLOCK_STARTS)

# Shares of bad responses, of those who slip and of those who are careless, and how frequent each
# share is among them.
SLIPS = {0.003: 0.4, 0.012: 0.3, 0.03: 0.17, 0.05: 0.09, 0.08: 0.04}
SPOILS = {0.13: 0.08, 0.2: 0.16, 0.28: 0.18, 0.38: 0.18, 0.5: 0.16, 0.7: 0.14, 0.92: 0.1}
# How many of the bad responses show their manner's flag.
SHOW_CHANCES = (0.35, 0.8)
# The share of bad responses before a worker turned careless.
AT_FIRST = 0.01
# Good work may trip a flag by habit: so many times as often as usual.
HABITS = (0.3, 3.0, 10.0, 30.0)
HABIT_SHARE = 0.1

# Equally likely points of a normal distribution, the middles of its tenths.
TENTHS = np.array([NormalDist().inv_cdf(point / 20) for point in range(1, 20, 2)])
# The normal distribution as a table: read between its points, it is less than a millionth off.
NORMAL_AT = np.linspace(-8, 8, 4001)
NORMAL_BELOW = np.array([NormalDist().cdf(point) for point in NORMAL_AT])
# A level stands for the shares and chances between it and the next, which are by so much off, as a
# standard deviation relative to the number of bad responses.
BETWEEN_LEVELS = 0.25

SHARE, SHOWS = (
    axis.ravel()
    for axis in np.meshgrid(np.array([*SLIPS, *SPOILS]), np.array(SHOW_CHANCES), indexing="ij")
)
IS_CARELESS = max(SLIPS) < SHARE
LEVEL_WEIGHT = np.repeat([*SLIPS.values(), *SPOILS.values()], len(SHOW_CHANCES)) / len(SHOW_CHANCES)


def block_of(position: int) -> int:
    """The block of a worker's response, by its position in their work, counted from 0."""
    return int(np.searchsorted(BLOCK_STARTS, position, side="right")) - 1


@dataclass(frozen=True)
class Chances:
    """What each case says of a response; both [manner, grade, level]."""

    looks: Array  # How many times as likely a response looks so as a good one does.
    bad: Array  # The chance that a response which looks so is bad.
    at_first: Array  # That chance before the worker turned careless, [grade].

    @classmethod
    def of(cls, usual: Array, telling: Array, slips: Array) -> "Chances":
        """A bad response shows its manner with the level's chance, and then to grades as `telling`
        has it; otherwise it looks like a good one, as `usual` has it. Beside that, anybody's
        response may be a slip, as likely as `slips` has it. All [manner, grade]."""
        ratio = SHOWS * (telling / usual)[:, :, None] + 1 - SHOWS
        looks = SHARE * ratio + 1 - SHARE
        bad = 1 - (1 - SHARE * ratio / looks) * (1 - slips[:, :, None])
        return cls(looks, np.minimum(bad, 1 - 1e-9), 1 - (1 - AT_FIRST) * (1 - slips[0]))


def log_evidence(tally: Array, chances: Chances, usual: Array, telling: Array) -> Array:
    """How probable each case makes the workers' flags and verdicts, as a logarithm relative to
    good work's flags, [worker, since, manner, level]."""
    later = np.empty((*chances.bad.shape[:2], 3, len(SHARE)))
    later[:, :, OPEN] = np.log(chances.looks)
    later[:, :, GOOD] = np.log(chances.looks) + np.log1p(-chances.bad)
    later[:, :, BAD] = np.log(chances.looks) + np.log(chances.bad)
    judged = tally[:, :, 0]
    first = judged[..., GOOD] @ np.log1p(-chances.at_first)
    first += judged[..., BAD] @ np.log(chances.at_first)
    before = (np.cumsum(first, axis=1) - first)[:, :, None]
    habit = _log_habit(tally, usual, telling)
    return from_block_on(_weighted(tally, later)) + (before - habit[:, None])[..., None]


def _log_habit(tally: Array, usual: Array, telling: Array) -> Array:
    """How probable the flags are in good work, where a habit may trip them, [worker, manner]."""
    tells = telling > 0
    shown = (tally[..., [OPEN, GOOD]].sum(axis=(1, 4)) * tells).sum(axis=2)
    plain = (tally[..., [OPEN, GOOD]].sum(axis=(1, 4)) * ~tells).sum(axis=2)
    own = np.minimum((usual * tells).sum(axis=1), 0.9)
    rates = np.minimum(np.array(HABITS)[:, None, None] * own, 0.9)
    by_habit = shown * np.log(rates / own) + plain * np.log((1 - rates) / (1 - own))
    none = np.full((1, *shown.shape), np.log1p(-HABIT_SHARE))
    habits = by_habit + np.log(HABIT_SHARE / len(HABITS))
    leaves_trace = ~tells[:, 0]
    return np.where(leaves_trace, np.logaddexp.reduce(np.concatenate([none, habits])), 0.0)


def expected_bad(tally: Array, chances: Chances) -> tuple[Array, Array]:
    """Bad responses from each case's block on, judged ones included, and the variance of that
    number; both [worker, since, manner, level]."""
    mean = np.zeros((*chances.bad.shape[:2], 3, len(SHARE)))
    mean[:, :, OPEN] = chances.bad
    mean[:, :, BAD] = 1
    variance = mean * (1 - mean)
    return from_block_on(_weighted(tally, mean)), from_block_on(_weighted(tally, variance))


def chance_over(tally: Array, chances: Chances, limit: float) -> Array:
    """The chance in each case that more than `limit` of the responses from its block on are bad,
    [worker, since, manner, level]. Of those that there are, not of all that could come."""
    mean, variance = expected_bad(tally, chances)
    written = from_block_on(tally[:, :, 0].sum(axis=(2, 3)))
    most = np.floor(limit * written + 1e-9)[:, :, None, None]
    deviations = (mean - most - 0.5) / np.sqrt(variance + 1e-6)
    over: Array = np.interp(deviations, NORMAL_AT, NORMAL_BELOW)
    return over


def likely_bad(tally: Array, chances: Chances) -> Array:
    """Numbers of bad responses of one worker, judged ones included, that are equally likely within
    a case, [since, manner, level, point]."""
    mean, variance = (one[0] for one in expected_bad(tally[None], chances))
    judged_bad = tally[:, 0, :, BAD].sum(axis=1)
    later = np.cumsum(judged_bad[::-1])[::-1, None, None]
    unjudged = mean - later
    deviation = np.sqrt(variance + (BETWEEN_LEVELS * unjudged) ** 2)
    numbers: Array = (judged_bad.sum() + unjudged)[..., None] + deviation[..., None] * TENTHS
    return numbers


def from_block_on(values: Array) -> Array:
    """Sums over each block (axis 1) and all later ones."""
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1]


def _weighted(tally: Array, values: Array) -> Array:
    """The tally's sum of values [manner, grade, verdict, level]: [worker, block, manner, level]."""
    workers, blocks, manners = tally.shape[:3]
    by_manner = tally.reshape(workers * blocks, manners, -1).transpose(1, 0, 2)
    product = by_manner @ values.reshape(manners, -1, len(SHARE))
    return product.transpose(1, 0, 2).reshape(workers, blocks, manners, len(SHARE))
