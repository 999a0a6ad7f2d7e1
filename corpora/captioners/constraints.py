"""Choose the objects of an image that a caption must mention: nocaps' constraint filtering.

Agrawal et al. 2019, section 4 and appendix 4.2: 39 classes are left out, of two boxes that overlap
the one with the broader class is removed, and the best three objects remain. They constrain beam
search.
"""

import csv
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from corpora.errors import DomainError
from corpora.reading.files import MalformedFile, Progress, short
from corpora.reading.tables import CsvFile, open_csv

# From the paper: boxes with at least this intersection over union overlap; constraints per image.
OVERLAP = 0.85
MOST = 3


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
    table = files("corpora.captioners").joinpath("excluded_classes.csv")
    rows = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    return {row["class"]: row["name"] for row in rows}


def excluded_by_name(classes: Mapping[str, str]) -> dict[str, str]:
    """Those of the classes, names by label, that have the name of an excluded class: classes of
    other datasets, such as COCO's, have labels of their own."""
    names = {name.casefold() for name in excluded_classes().values()}
    return {label: name for label, name in classes.items() if name.casefold() in names}


def levels(relations: Iterable[tuple[str, str]]) -> dict[str, int]:
    """The level of each class in a hierarchy of (parent, child): 0 for the top.

    A class with several parents has the level of its longest path. Raises DomainError.
    """
    parents: dict[str, set[str]] = {}
    for parent, child in relations:
        parents.setdefault(child, set()).add(parent)
    level_of: dict[str, int] = {}
    try:
        for label in TopologicalSorter(parents).static_order():
            above = parents.get(label, ())
            level_of[label] = 1 + max((level_of[parent] for parent in above), default=-1)
    except CycleError as error:
        circle = " > ".join(reversed(error.args[1]))
        raise DomainError(
            f"The class hierarchy has a circle: {circle}. Correct the hierarchy file and import "
            "it again."
        ) from error
    return level_of


def choose_constraints(
    candidates: Iterable[Candidate],
    levels_of: Mapping[str, int],
    excluded: Collection[str],
) -> list[Candidate]:
    """The best boxes of an image, best first, at most one of each class.

    Excluded classes are left out first. Of two boxes with an IoU of at least OVERLAP, the one
    with the higher class in the hierarchy is removed; boxes of the same level both stay. Boxes are
    ranked by confidence, and boxes without a confidence by area. Classes that are not in the
    hierarchy are at the top.
    """
    eligible = [box for box in candidates if box.label not in excluded]
    kept = [box for box in eligible if not _is_suppressed(box, eligible, levels_of)]
    kept.sort(key=_rank)
    by_class: dict[str, Candidate] = {}
    for box in kept:
        by_class.setdefault(box.label, box)
    return list(by_class.values())[:MOST]


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
) -> bool:
    level = levels_of.get(box.label, 0)
    return any(
        levels_of.get(other.label, 0) > level and intersection_over_union(box, other) >= OVERLAP
        for other in others
    )


def _rank(box: Candidate) -> tuple[float, float, str, float, float]:
    """Sorts the best box first; the rest of the key makes the order independent of the input's."""
    confidence = 0.0 if box.confidence is None else box.confidence
    return (-confidence, -box.area, box.label, box.x_min, box.y_min)


EDGE_COLUMNS = ("XMin", "XMax", "YMin", "YMax")
NUMBER_COLUMNS = (*EDGE_COLUMNS, "Confidence")
COLUMNS = ("ImageID", "LabelName", *NUMBER_COLUMNS)


def read_detections(
    path: Path, names: Mapping[str, str], progress: Progress
) -> dict[str, list[Candidate]]:
    """The boxes of each image by the image's key; `names` are the known classes' names by label.

    Edges are fractions of the image, and Confidence is a number from 0 to 1. Other columns are
    ignored. Raises MalformedFile, which names the line.
    """
    candidates: dict[str, list[Candidate]] = defaultdict(list)
    with open_csv(path, progress) as table:
        header = table.header(COLUMNS)
        places = [header.index(column) for column in COLUMNS]
        for row in table.rows:
            if not row:
                continue
            if len(row) != len(header):
                raise table.wrong_length(row, len(header))
            image, label, *numbers = (row[place] for place in places)
            if not image:
                raise table.wrong("ImageID is empty")
            if label not in names:
                raise table.wrong(
                    f"class {short(label)} is not known; use the labels of the imported classes, "
                    "such as /m/0bt9lr"
                )
            candidates[image].append(Candidate(label, names[label], *_numbers(table, numbers)))
    if not candidates:
        raise MalformedFile(path, "the file has no detections")
    return candidates


def _numbers(table: CsvFile, texts: list[str]) -> list[float]:
    """The edges and the confidence, from 0 to 1."""
    values = [_number(table, *cell) for cell in zip(NUMBER_COLUMNS, texts, strict=True)]
    x_min, x_max, y_min, y_max, _confidence = values
    if x_min > x_max or y_min > y_max:
        raise table.wrong("XMin is greater than XMax, or YMin is greater than YMax")
    return values


def _number(table: CsvFile, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise table.wrong(f"{column} {short(text)} is not a number") from None
    if not 0 <= value <= 1:  # not for NaN either
        raise table.wrong(f"{column} {short(text)} is not between 0 and 1")
    return value
