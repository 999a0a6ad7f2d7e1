"""The hypotheses about a worker, and how probable each makes the worker's flags and verdicts.

A hypothesis has four parts:

- a start: the first block of the worker's work to which the hypothesis applies. Earlier responses
  are bad with probability BAD_BEFORE;
- a failure pattern, a way in which careless work can show in a response's flags: one flag, a family
  of related flags, any flags, or no flag at all (faults that no flag detects);
- a share of bad responses: from the start on, each response is bad with this probability,
  independently of the others;
- a visibility: the probability that a bad response shows the pattern. Other bad responses have the
  flags of a good response.

A response shows each pattern to a grade from 0 to 3:

- of a single flag or a family: 0 no notable flag, SHOWN one of the pattern's own flags, OTHERS
  other flags that are rare together;
- of any flags, and of no flag: 0 for common sets of flags, then 1, 2 and 3 the rarer the set is.

A share and a visibility together are a level. Levels with a share above GOOD_SHARES are careless.

Arrays over hypotheses have the axes [start, pattern, level]. A tally counts responses and has the
axes [worker, block, pattern, grade, verdict], where each response counts once for each pattern, at
the grade to which it shows the pattern. Plain Python with NumPy.
"""

from collections.abc import Mapping, Sequence
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
    mean, variance = (figures[0] for figures in expected_bad(tally[None], chances))
    # By block. Every pattern counts each response once, so the first one has them all.
    judged_bad = tally[:, 0, :, BAD].sum(axis=1)
    # From each start on, with axes for pattern and level; `mean` includes them.
    judged_later = np.cumsum(judged_bad[::-1])[::-1, None, None]
    unjudged = mean - judged_later
    # The worker's share may lie between two levels, and then all unjudged responses deviate in the
    # same direction: this deviation grows with their number, and not with its root.
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
    chosen: Array = values[order][np.minimum(places, len(order) - 1)]
    return chosen


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


NO_FLAG, ANY_FLAGS = "no flag", "any flags"
# A set of flags has grade 1, 2 or 3 of "any flags" if fewer than one in this number of responses
# have it. The rates of its flags are multiplied, as if flags were independent.
RARITIES = (1, 50, 500)
GRADES = len(RARITIES) + 1
SHOWN, OTHERS = 1, 2
# Shares of the grades among good responses, before the campaign has any data.
ANY_IF_GOOD = np.array([0.85, 0.1, 0.04, 0.01])
ONE_IF_GOOD = np.array([0.93, 0.02, 0.05, 0])
# Shares of the grades among bad responses that show their pattern.
ANY_IF_SHOWN = np.array([0.0, 0.25, 0.35, 0.4])
ONE_IF_SHOWN = np.array([0, 1.0, 0, 0])
# The probability that a good worker's response is bad (a slip), by its grade of "any flags".
SLIPS_BY_GRADE = np.array([0.003, 0.02, 0.15, 0.4])

FAMILIES: Mapping[str, frozenset[str]] = {
    "unlike the others": frozenset({"unlike", "very_unlike", "names_none"}),
    "words in no order": frozenset({"odd_order", "broken_order", "unfinished"}),
    "copied": frozenset({"copies_own", "repeats", "copies_other", "twin_account"}),
    "cut short": frozenset({"unfinished", "brief", "too_short"}),
    "not written by hand": frozenset(
        {"not_typed", "bulk_insertion", "pasted", "pasted_long", "ornate", "sentences"}
    ),
}
# Prior shares of two patterns among careless workers; single flags and families divide the rest
# equally. Faults that flags detect badly or not at all get a large share.
CARELESS_PRIOR = {NO_FLAG: 0.3, ANY_FLAGS: 0.3}
# The same for the slips of good workers.
SLIP_PRIOR = {NO_FLAG: 0.5, ANY_FLAGS: 0.35}


class FailurePatterns:
    """The patterns that a campaign's flags can show.

    `rates` maps each flag's code to its share among all responses; other codes are ignored.
    `names` lists the patterns in the order of all arrays. `if_good` and `if_shown` are the shares
    of the grades among good responses (prior) and among bad ones that show their pattern.
    """

    def __init__(self, rates: Mapping[str, float]) -> None:
        self.rates = dict(sorted(rates.items()))
        families = {name: codes & rates.keys() for name, codes in FAMILIES.items()}
        self.codes_of: dict[str, frozenset[str]] = {
            **{name: codes for name, codes in families.items() if len(codes) > 1},
            **{code: frozenset({code}) for code in self.rates},
        }
        self.names = [NO_FLAG, ANY_FLAGS, *self.codes_of]
        self.if_good = np.array([ANY_IF_GOOD, ANY_IF_GOOD, *[ONE_IF_GOOD] * len(self.codes_of)])
        self.if_shown = np.array([ANY_IF_GOOD, ANY_IF_SHOWN, *[ONE_IF_SHOWN] * len(self.codes_of)])
        self._grades: dict[tuple[str, ...], NDArray[np.int64]] = {}

    def grades(self, codes: tuple[str, ...]) -> NDArray[np.int64]:
        """The grade to which a response with these flags shows each pattern, [pattern]."""
        if codes not in self._grades:
            rarity = -sum(np.log(self.rates[code]) for code in codes if code in self.rates)
            any_flags = int(np.searchsorted(np.log(RARITIES), rarity))
            otherwise = OTHERS if any_flags >= 2 else 0
            own = [
                otherwise if own_codes.isdisjoint(codes) else SHOWN
                for own_codes in self.codes_of.values()
            ]
            self._grades[codes] = np.array([any_flags, any_flags, *own])
        return self._grades[codes]

    def slips(self, by_grade: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability that a good worker's response is bad, [pattern, grade].

        `by_grade` is that probability by the grade of "any flags". It is 0 where the grade is
        evidence of the pattern, because the hypothesis itself then says how many are bad.
        """
        slips = np.zeros((len(self.names), GRADES))
        slips[0] = by_grade
        slips[2:, 0], slips[2:, OTHERS] = by_grade[0], by_grade[2:].mean()
        return slips

    def shares(self, known: Mapping[str, float]) -> NDArray[np.float64]:
        """The share of each pattern, [pattern], with sum 1: `known` gives the share of some
        patterns, and the others divide the rest equally."""
        others = max(1, len(self.names) - len(known))
        other_share = (1 - sum(known.values())) / others
        shares = np.array([known.get(name, other_share) for name in self.names])
        shares /= shares.sum()
        return shares


def code_rates(numbers: Sequence[tuple[tuple[str, ...], int]]) -> dict[str, float]:
    """The share of all responses that have each code, smoothed so that none is 0. `numbers` pairs
    each set of codes with its number of responses."""
    total = sum(number for _, number in numbers)
    counts: dict[str, int] = {}
    for codes, number in numbers:
        for code in codes:
            counts[code] = counts.get(code, 0) + number
    return {code: (count + 1) / (total + 50) for code, count in counts.items()}
