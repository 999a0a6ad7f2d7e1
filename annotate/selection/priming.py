"""The keywords that prime workers, and which responses to an image are primed."""

import math
import random
from collections.abc import Iterable


def keywords(names: Iterable[str]) -> list[str]:
    """The distinct names in alphabetical order, ignoring case. The order implies no ranking."""
    return sorted(set(names), key=lambda name: (name.casefold(), name))


def primes_next(*, share: float, seed: int, number: int, primed: int, unprimed: int) -> bool:
    """Whether the next response to an image is primed, after so many primed and unprimed ones.

    Of any n responses in a row, less than one more or less than n × share are primed. `seed` and
    the image's `number` decide where an image starts, so that not all images begin alike.
    """
    start = random.Random(f"{seed}-{number}").random()
    return primed < math.floor(share * (primed + unprimed + 1) + start)
