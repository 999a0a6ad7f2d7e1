"""A box as workers see it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from annotate.models import Box
from annotate.queries.keywords import hidden_class_numbers


class NumberedBox(NamedTuple):
    """A box with its number in its image, from 1; edges as fractions of width and height."""

    key: int
    number: int
    label: str
    name: str
    is_group: bool
    is_depiction: bool
    is_part: bool
    x_min: float
    y_min: float
    x_max: float
    y_max: float


COLUMNS = ("pk", "object_class__label", "object_class__name", "is_group", "is_depiction")
EDGES = ("x_min", "y_min", "x_max", "y_max")
Row = tuple[Any, ...]


def numbered_boxes(images: Iterable[int], *, parts: bool) -> dict[int, list[NumberedBox]]:
    """Each image's verified boxes by the image's primary key, in two queries.

    Ordered by class name, then from left to right. Boxes of parts come last and are left out by
    default, so a box has the same number with and without them.
    """
    hidden = hidden_class_numbers()
    found: dict[int, list[Row]] = {image: [] for image in images}
    rows = Box.objects.verified().filter(image__in=found)
    for image, object_class, *row in rows.values_list(
        "image_id", "object_class_id", *COLUMNS, *EDGES
    ).iterator():
        found[image].append((object_class in hidden, *row))
    return {image: _numbered(rows, parts=parts) for image, rows in found.items()}


def _numbered(rows: list[Row], *, parts: bool) -> list[NumberedBox]:
    def place(row: Row) -> Row:
        is_part, key, _, name, _, _, *edges = row
        return (is_part, name.casefold(), *edges, key)

    return [
        NumberedBox(key, number, label, name, bool(is_group), bool(is_depiction), is_part, *edges)
        for number, (is_part, key, label, name, is_group, is_depiction, *edges) in enumerate(
            sorted(rows, key=place), start=1
        )
        if parts or not is_part
    ]
