"""The share of bad responses in what is kept, estimated from the random checks alone.

Every response has a place in a random order that is drawn before anything is known of it
(`random_sample.random_order`). The responses up to the first that nobody judged are a uniform
sample of all, whatever the queue had checked besides. Plain Python with NumPy.
"""

from dataclasses import dataclass
from math import lgamma

import numpy as np

CONFIDENCE = 0.95
# Halvings of the interval from 0 to 1: as many as a float has digits.
HALVINGS = 53


@dataclass(frozen=True)
class Estimate:
    """The share of bad responses among those kept, with the ends of its interval of 95 %
    confidence, and the number of random checks it rests on."""

    share: float
    low: float
    high: float
    checks: int


def estimate_share(*, good: int, bad: int, kept: int, removed: int) -> Estimate:
    """What the random checks say of the responses that are kept.

    `good` and `bad` are the sample's verdicts on responses of workers who are not excluded; `kept`
    is how many responses of theirs are kept, `removed` how many were judged bad, by any check, and
    so removed. The sample tells of both together; what was removed is taken off.
    """
    checks, written = good + bad, kept + removed
    low, high = exact_interval(bad, checks)

    def left(share: float) -> float:
        return min(1.0, max(0.0, share * written - removed) / max(1, kept))

    return Estimate(left(bad / checks if checks else 0.0), left(low), left(high), checks)


def exact_interval(successes: int, trials: int) -> tuple[float, float]:
    """The interval of Clopper and Pearson (1934) for a share, which covers it in at least 95 of
    100 samples; 0 to 1 without trials."""
    low = _share_with_tail(successes, trials) if successes else 0.0
    high = 1 - _share_with_tail(trials - successes, trials) if successes < trials else 1.0
    return low, high


def _share_with_tail(least: int, trials: int) -> float:
    """The share at which so many successes or more are just so rare that the interval leaves the
    share out. The larger the share, the more probable they are, so halving finds it."""
    counts = np.arange(least, trials + 1)
    logs = np.array([-lgamma(n + 1) - lgamma(trials - n + 1) for n in counts]) + lgamma(trials + 1)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        share = (low + high) / 2
        chances = np.exp(logs + counts * np.log(share) + (trials - counts) * np.log1p(-share))
        if chances.sum() < (1 - CONFIDENCE) / 2:
            low = share
        else:
            high = share
    return (low + high) / 2
