"""The share of bad responses in what is kept, estimated from the random checks alone.

Every response has a place in a random order that is drawn before anything is known of it
(`qualcontrol.floor.random_order`). The responses up to the first that nobody judged are a uniform
sample of all, whatever the queue had checked besides. Plain Python with scipy.
"""

from dataclasses import dataclass

from scipy.special import betaincinv

CONFIDENCE = 0.95


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
    tail = (1 - CONFIDENCE) / 2
    low = betaincinv(successes, trials - successes + 1, tail) if successes else 0.0
    high = betaincinv(successes + 1, trials - successes, 1 - tail) if successes < trials else 1.0
    return float(low), float(high)
