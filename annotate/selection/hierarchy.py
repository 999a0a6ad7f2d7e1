"""The graph of object classes: which of them are parts, and so never shown to a worker."""

from collections.abc import Iterable
from typing import NamedTuple

# What stands in a Part list under these is no part in any useful sense: the list of Building
# (/m/0cgh4) holds televisions, musical instruments, tools and weapons.
PART_EXCEPTIONS = frozenset({"/m/0cgh4"})
PART = "PART"


class Edge(NamedTuple):
    """A relation of two classes, which go by their numbers."""

    parent: int
    child: int
    kind: str
    parent_label: str


def parts(edges: Iterable[Edge]) -> set[int]:
    """The classes that are parts of another one, and all that stands under them."""
    below: dict[int, list[int]] = {}
    waiting: list[int] = []
    for edge in edges:
        below.setdefault(edge.parent, []).append(edge.child)
        if edge.kind == PART and edge.parent_label not in PART_EXCEPTIONS:
            waiting.append(edge.child)
    found: set[int] = set()
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(below.get(node, ()))
    return found
