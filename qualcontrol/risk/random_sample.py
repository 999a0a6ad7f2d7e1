"""The random sample, and the turns on which the queue gives a required check.

Without required checks, a campaign would only find faults that flags detect, and could not estimate
the share of bad responses without bias. Plain Python.
"""

import random

# One check in this number is a required check: of the random sample, or a worker's first response.
REQUIRED_EVERY = 6


def random_order(seed: int, response: int) -> float:
    """A response's position in the campaign's random order, 0 to 1. It depends on the campaign's
    seed and the response's number only, so flags and verdicts cannot influence it."""
    return random.Random(f"{seed}:{response}").random()


def is_required_turn(turn: int) -> bool:
    """Whether the check after `turn` earlier ones is a required check."""
    return turn % REQUIRED_EVERY == REQUIRED_EVERY - 1
