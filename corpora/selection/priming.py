"""The keywords that prime workers, and the classes of a hierarchy that are never among them."""

import math
import random
from collections.abc import Iterable
from typing import NamedTuple


def keywords(names: Iterable[str]) -> list[str]:
    """The distinct names in alphabetical order, ignoring case. The order implies no ranking."""
    return sorted(set(names), key=lambda name: (name.casefold(), name))


def primes_next(*, share: float, seed: int, number: int, primed: int, unprimed: int) -> bool:
    """Whether the next response to an image is primed, after so many primed and unprimed ones.

    Of any n responses in a row, less than one more or less than n × share are primed. `seed` and
    the image's `number` decide where an image starts, so that not all images begin with the same
    value.
    """
    start = random.Random(f"{seed}-{number}").random()
    return primed < math.floor(share * (primed + unprimed + 1) + start)


# The Part lists of these classes do not contain parts: the list of Building (/m/0cgh4) contains
# televisions, musical instruments, tools and weapons.
PART_EXCEPTIONS = frozenset({"/m/0cgh4"})
PART = "PART"


class Edge(NamedTuple):
    """A relation between two classes, identified by their primary keys."""

    parent: int
    child: int
    kind: str
    parent_label: str


def parts(edges: Iterable[Edge]) -> set[int]:
    """Primary keys of the classes that are parts of another one, and of all classes below them."""
    below: dict[int, list[int]] = {}
    waiting: list[int] = []
    for edge in edges:
        below.setdefault(edge.parent, []).append(edge.child)
        if edge.kind == PART and edge.parent_label not in PART_EXCEPTIONS:
            waiting.append(edge.child)
    parts: set[int] = set()
    while waiting:
        node = waiting.pop()
        if node not in parts:
            parts.add(node)
            waiting.extend(below.get(node, ()))
    return parts
