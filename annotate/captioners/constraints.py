"""Choose the objects of an image that a caption must mention: nocaps' constraint filtering.

Agrawal et al. 2019, section 4 and appendix 4.2: 39 classes are left out, of two boxes that overlap
the one with the broader class is removed, and the best three objects remain. They constrain beam
search.
"""

import csv
from collections.abc import Collection, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from typing import NamedTuple

from annotate.errors import DomainError

# From the paper: boxes with at least this intersection over union overlap; constraints per image.
OVERLAP = 0.85
MOST = 3


class CircularHierarchy(DomainError):
    """A class is above itself."""


class Candidate(NamedTuple):
    """A box that may become a constraint; edges are fractions of the image.

    `confidence` is None for boxes drawn or verified by people.
    """

    label: str
    name: str
    x_min: float
    x_max: float
    y_min: float
    y_max: float
    confidence: float | None = None

    @property
    def area(self) -> float:
        return (self.x_max - self.x_min) * (self.y_max - self.y_min)


def excluded_classes() -> dict[str, str]:
    """The 39 classes of the paper's table 5 that are never constraints: names by class label."""
    table = files("annotate.captioners").joinpath("excluded_classes.csv")
    rows = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    return {row["class"]: row["name"] for row in rows}


def levels(relations: Iterable[tuple[str, str]]) -> dict[str, int]:
    """The level of each class in a hierarchy of (parent, child): 0 for the top.

    A class with several parents has the level of its longest path. Raises CircularHierarchy.
    """
    parents: dict[str, set[str]] = {}
    for parent, child in relations:
        parents.setdefault(child, set()).add(parent)
    found: dict[str, int] = {}
    try:
        for label in TopologicalSorter(parents).static_order():
            above = parents.get(label, ())
            found[label] = 1 + max((found[parent] for parent in above), default=-1)
    except CycleError as error:
        circle = " > ".join(reversed(error.args[1]))
        raise CircularHierarchy(
            f"The class hierarchy has a circle: {circle}. Correct the hierarchy file and import "
            "it again."
        ) from error
    return found


def choose_constraints(
    candidates: Iterable[Candidate],
    levels_of: Mapping[str, int],
    excluded: Collection[str],
    *,
    overlap: float = OVERLAP,
    most: int = MOST,
) -> list[Candidate]:
    """The best boxes of an image, best first, at most one of each class.

    Excluded classes are left out first. Of two boxes with an IoU of at least `overlap`, the one
    with the higher class in the hierarchy is removed; boxes of the same level both stay. Boxes are
    ranked by confidence, and boxes without a confidence by area. Classes that are not in the
    hierarchy are at the top.
    """
    eligible = [box for box in candidates if box.label not in excluded]
    kept = [box for box in eligible if not _is_suppressed(box, eligible, levels_of, overlap)]
    kept.sort(key=_rank)
    by_class: dict[str, Candidate] = {}
    for box in kept:
        by_class.setdefault(box.label, box)
    return list(by_class.values())[:most]


def intersection_over_union(one: Candidate, other: Candidate) -> float:
    """The share of the area of both boxes together that lies in both; 0 if they have no area."""
    width = min(one.x_max, other.x_max) - max(one.x_min, other.x_min)
    height = min(one.y_max, other.y_max) - max(one.y_min, other.y_min)
    common = max(width, 0) * max(height, 0)
    union = one.area + other.area - common
    return common / union if union else 0.0


def _is_suppressed(
    box: Candidate,
    others: Iterable[Candidate],
    levels_of: Mapping[str, int],
    overlap: float,
) -> bool:
    level = levels_of.get(box.label, 0)
    return any(
        levels_of.get(other.label, 0) > level and intersection_over_union(box, other) >= overlap
        for other in others
    )


def _rank(box: Candidate) -> tuple[float, float, str, float, float]:
    """Sorts the best box first; the rest of the key makes the order independent of the input's."""
    confidence = 0.0 if box.confidence is None else box.confidence
    return (-confidence, -box.area, box.label, box.x_min, box.y_min)
