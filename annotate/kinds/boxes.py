"""A box as workers see it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from annotate.models import Box
from annotate.queries.keywords import hidden_class_numbers


class NumberedBox(NamedTuple):
    """A box with its number in its image, from 1; edges as fractions of width and height."""

    key: int
    number: int
    class_key: int
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
    rows_of: dict[int, list[Row]] = {image: [] for image in images}
    rows = Box.objects.verified().filter(image__in=rows_of)
    for image, object_class, *row in rows.values_list(
        "image_id", "object_class_id", *COLUMNS, *EDGES
    ).iterator():
        rows_of[image].append((object_class in hidden, object_class, *row))
    return {image: _numbered(rows, parts=parts) for image, rows in rows_of.items()}


def _numbered(rows: list[Row], *, parts: bool) -> list[NumberedBox]:
    def place(row: Row) -> Row:
        is_part, _, key, _, name, _, _, *edges = row
        return (is_part, name.casefold(), *edges, key)

    boxes = []
    for number, row in enumerate(sorted(rows, key=place), start=1):
        is_part, class_key, key, label, name, is_group, is_depiction, *edges = row
        if parts or not is_part:
            flags = (bool(is_group), bool(is_depiction), is_part)
            boxes.append(NumberedBox(key, number, class_key, label, name, *flags, *edges))
    return boxes
