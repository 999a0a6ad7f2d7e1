"""A box as workers see it."""

from typing import NamedTuple


class NumberedBox(NamedTuple):
    """A box with its number in its image, from 1; edges as fractions of width and height."""

    key: int
    number: int
    label: str
    name: str
    is_group: bool
    is_part: bool
    x_min: float
    y_min: float
    x_max: float
    y_max: float
