"""Estimate the share of bad responses in the data from the random sample only.

Every response has a position in a random order that depends on neither flags nor verdicts
(`random_order`). The responses before the first one without a verdict are a uniform
sample of all responses, no matter which others were checked. Plain Python with NumPy.

The interval is that of all responses, less those that were found bad. After many checks by risk,
the share computed in this way would be noise, so it is estimated among the responses that no check
has seen. A check of the sample has a weight: of the same worker's other responses that have flags
if it has some, the part that no other check has seen. This is the probability that without the
sample nobody had seen its response, if other checks depend on worker and flags and not on the
response being bad. With few others that part is uncertain, so a prior counts as one more of them:
the smaller of the parts among all of the worker's responses, and among all workers' with flags or
without.
"""

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

# One check in this number is a required check: of the random sample, or a worker's first response.
REQUIRED_EVERY = 6


def random_order(seed: int, response: int) -> float:
    """A response's position in the campaign's random order, 0 to 1. It depends on the campaign's
    seed and the response's number only, so flags and verdicts cannot influence it."""
    return random.Random(f"{seed}:{response}").random()


def is_required_turn(turn: int) -> bool:
    """Whether the check after `turn` earlier ones is a required check."""
    return turn % REQUIRED_EVERY == REQUIRED_EVERY - 1


CONFIDENCE = 0.95
# Number of bisection steps: the number of binary digits of a float.
HALVINGS = 53


@dataclass(frozen=True)
class Estimate:
    """The estimated share of bad responses among those kept.

    `low` and `high` are the ends of its 95% confidence interval, `checks` is the number of random
    checks used.
    """

    share: float
    low: float
    high: float
    checks: int


class Sampled(NamedTuple):
    """The verdicts in the sample on one worker's responses with flags, or on those without, and
    these responses: their number, and the number of those with a verdict, in the sample or not."""

    worker: int
    is_flagged: bool
    good: int
    bad: int
    written: int
    judged: int

    @property
    def checks(self) -> int:
        return self.good + self.bad


def estimate_share(sample: Iterable[Sampled], *, kept: int, removed: int, unseen: int) -> Estimate:
    """Estimate the share of bad responses among those kept.

    `sample` has all responses of the workers with a check in it. All numbers are of responses whose
    worker is not excluded: `kept` ones, `removed` ones, which any check found bad, and those of the
    kept ones that are `unseen`, because they have no verdict.
    """
    groups = list(sample)
    checks, bad = sum(group.checks for group in groups), sum(group.bad for group in groups)
    low, high = (
        min(1.0, max(0.0, end * (kept + removed) - removed) / max(1, kept))
        for end in exact_interval(bad, checks)
    )
    weights = list(_weights(groups))
    weight = sum(factor * group.checks for factor, group in zip(weights, groups, strict=True))
    bad_weight = sum(factor * group.bad for factor, group in zip(weights, groups, strict=True))
    share = bad_weight / weight * unseen / max(1, kept) if weight else 0.0
    return Estimate(min(high, max(low, share)), low, high, checks)


def _weights(groups: Sequence[Sampled]) -> Iterator[float]:
    """How likely it is that no other check has seen a sampled response of each group."""
    by_worker = defaultdict[int, list[Sampled]](list)
    by_flags = defaultdict[bool, list[Sampled]](list)
    for group in groups:
        by_worker[group.worker].append(group)
        by_flags[group.is_flagged].append(group)
    unseen_of = {worker: _unseen(theirs) for worker, theirs in by_worker.items()}
    unseen_with = {is_flagged: _unseen(alike) for is_flagged, alike in by_flags.items()}
    for group in groups:
        prior = min(unseen_of[group.worker], unseen_with[group.is_flagged])
        others = max(0, group.written - group.checks)
        yield (others * _unseen([group]) + prior) / (others + 1)


def _unseen(groups: Collection[Sampled]) -> float:
    """The part of the responses outside the sample that no check has seen; 1 if there are none."""
    others = sum(group.written - group.checks for group in groups)
    seen = sum(group.judged - group.checks for group in groups)
    return min(1.0, max(0.0, 1 - seen / others)) if others > 0 else 1.0


def exact_interval(successes: int, trials: int) -> tuple[float, float]:
    """The 95% interval of Clopper and Pearson (1934) for a share; 0 to 1 without trials.

    The interval contains the share with a probability of at least 95%.
    """
    low = _share_with_tail(successes, trials) if successes else 0.0
    high = 1 - _share_with_tail(trials - successes, trials) if successes < trials else 1.0
    return low, high


def _share_with_tail(least: int, trials: int) -> float:
    """The share at which `least` or more successes have the probability of one tail.

    The probability grows with the share, so bisection finds it.
    """
    counts = np.arange(least, trials + 1)
    factorials = np.append(0.0, np.cumsum(np.log(np.arange(1, trials + 1))))  # as logarithms
    logs = factorials[trials] - factorials[counts] - factorials[trials - counts]
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        share = (low + high) / 2
        chances = np.exp(logs + counts * np.log(share) + (trials - counts) * np.log1p(-share))
        if chances.sum() < (1 - CONFIDENCE) / 2:
            low = share
        else:
            high = share
    return (low + high) / 2
