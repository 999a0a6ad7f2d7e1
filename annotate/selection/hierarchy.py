"""The graph of object classes: find the classes that are parts, which workers never see."""

from collections.abc import Iterable
from typing import NamedTuple

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
    found: set[int] = set()
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(below.get(node, ()))
    return found
