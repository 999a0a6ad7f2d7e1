"""The floor under the queue: checks that are drawn whatever flags and verdicts say.

Without it a campaign would learn only of faults that the flags can see, and the share of bad
responses could not be estimated without bias. Plain Python.
"""

import random

# Every so many checks, one is from the floor.
FLOOR_EVERY = 6


def random_order(seed: int, response: int) -> float:
    """A response's place in the campaign's random order of all responses, 0 to 1. It depends on
    the two numbers alone, and so on nothing that was known when the response was drawn."""
    return random.Random(f"{seed}:{response}").random()


def is_floor_turn(turn: int) -> bool:
    """Whether the check that comes after `turn` others is taken from the floor."""
    return turn % FLOOR_EVERY == FLOOR_EVERY - 1
