"""One worker's answer: the boxes or the kind of each word that the worker answered."""

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from annotate.campaign_file import KindSection
from corpora.language.text import gettext_noop


class Correspondences(KindSection):
    """Which boxes and captions are used, and how workers' links are combined."""

    key: ClassVar[str] = "correspondence"

    parts: bool = Field(default=False, description="show boxes of parts, as faces and wheels are")
    images: int | None = Field(default=None, ge=1, description="the first so many of the captions'")
    captions_per_image: int | None = Field(default=None, ge=1, description="the first so many")
    aggregation: Literal["dawid-skene", "majority"] = Field(
        default="dawid-skene", description="how responses are combined"
    )


BOX = "box:"


class WordKind(StrEnum):
    """The kind of a word without a box."""

    NOT_BOXED = "not-boxed"
    SCENE = "scene"
    NOT_VISUAL = "not-visual"

    @property
    def label(self) -> str:
        return KIND_LABELS[self]


# In English; the task page translates them.
KIND_LABELS = {
    WordKind.NOT_BOXED: gettext_noop("visible, but not in a box"),
    WordKind.SCENE: gettext_noop("the scene as a whole"),
    WordKind.NOT_VISUAL: gettext_noop("not visible"),
}

# The keys of a word's boxes, or its kind.
Referent = list[int] | str
# By word number from 0, as text, because JSON keys are text.
Words = Mapping[str, Referent]


def parse(value: str) -> Referent | None:
    """Parse a field: `box:12 box:15`, a kind, or empty; raises ValueError. Repeated boxes count
    once."""
    parts = value.split()
    if not parts:
        return None
    if len(parts) == 1 and not parts[0].startswith(BOX):
        return WordKind(parts[0]).value
    return sorted({_box_key(part) for part in parts})


def _box_key(part: str) -> int:
    digits = part.removeprefix(BOX)
    if digits == part or not (digits.isascii() and digits.isdecimal() and len(digits) < 19):
        raise ValueError(f"{part!r} names no box")
    return int(digits)


def as_value(referent: Referent) -> str:
    """The field's value for boxes or a kind; the inverse of `parse`."""
    return referent if isinstance(referent, str) else " ".join(map(box_value, referent))


def box_value(key: int) -> str:
    """A box's name in the fields of the form."""
    return f"{BOX}{key}"


def links(words: Words) -> set[tuple[int, int]]:
    """The (word number, box key) pairs of the answer."""
    return {
        (int(number), box)
        for number, referent in words.items()
        if not isinstance(referent, str)
        for box in referent
    }


def kinds(words: Words) -> dict[int, str]:
    """The kinds of the answered words without a box, by word number."""
    return {
        int(number): referent for number, referent in words.items() if isinstance(referent, str)
    }
