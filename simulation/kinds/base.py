"""What the simulation of a task type consists of."""

import random
from collections.abc import Callable
from typing import NamedTuple

from annotate.models import Campaign, Response
from simulation.workers.crowd import Hand

HONEST = "honest"

# Returns the reason why a response is bad, in a reviewer's words, or an empty text.
Judge = Callable[[Response], str]


class Crew(NamedTuple):
    """Size of a crowd, number of careless workers, and error rate of the others' links."""

    size: int
    careless: int
    errors: float
    seed: int


class Simulated(NamedTuple):
    """How the workers of a crew fill in the forms of a task type, and how a reviewer judges the
    answers. `hands` gets the numbers of the careless workers."""

    hands: Callable[[Campaign, Crew, random.Random, set[int]], list[Hand]]
    judge: Callable[[Campaign], Judge]
