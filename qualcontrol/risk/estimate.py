"""Estimate the share of bad responses in the data from the random sample only.

Every response has a position in a random order that depends on neither flags nor verdicts
(`random_sample.random_order`). The responses before the first one without a verdict are a uniform
sample of all responses, no matter which others were checked. Plain Python with NumPy.
"""

from dataclasses import dataclass

import numpy as np

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


def estimate_share(*, good: int, bad: int, kept: int, removed: int) -> Estimate:
    """Estimate the share of bad responses among those kept.

    All numbers are of workers who are not excluded: `good` and `bad` verdicts of the sample, `kept`
    responses, and `removed` responses, which any check found bad. The sample estimates the number
    of bad responses among both; the removed ones are then subtracted.
    """
    checks, written = good + bad, kept + removed
    low, high = exact_interval(bad, checks)

    def left(share: float) -> float:
        return min(1.0, max(0.0, share * written - removed) / max(1, kept))

    return Estimate(left(bad / checks if checks else 0.0), left(low), left(high), checks)


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
