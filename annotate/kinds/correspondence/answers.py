"""One worker's answer: for each word that they said something of, its boxes or its kind."""

from collections.abc import Mapping
from enum import StrEnum

BOX = "box:"


class WordKind(StrEnum):
    """What a word is that has no box."""

    NOT_BOXED = "not-boxed"
    SCENE = "scene"
    NOT_VISUAL = "not-visual"

    @property
    def label(self) -> str:
        return KIND_LABELS[self]


KIND_LABELS = {
    WordKind.NOT_BOXED: "visible, but not in a box",
    WordKind.SCENE: "the scene as a whole",
    WordKind.NOT_VISUAL: "not visible",
}

# A word's boxes by their keys, or its kind.
Referent = list[int] | str
# By the word's number from 0, written out, as JSON has it.
Words = Mapping[str, Referent]


def parse(value: str) -> Referent | None:
    """What a form's field says of a word: `box:12 box:15`, a kind, or nothing; raises ValueError.
    A box named twice is named once."""
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
    """The field that `parse` reads the same from."""
    return referent if isinstance(referent, str) else " ".join(map(box_value, referent))


def box_value(key: int) -> str:
    """A box as a form's field names it."""
    return f"{BOX}{key}"


def links(words: Words) -> set[tuple[int, int]]:
    """The pairs of a word's number and a box's key that the answer links."""
    return {
        (int(number), box)
        for number, referent in words.items()
        if not isinstance(referent, str)
        for box in referent
    }


def kinds(words: Words) -> dict[int, str]:
    """The kinds of the words that have no box, where the answer says one."""
    return {
        int(number): referent for number, referent in words.items() if isinstance(referent, str)
    }
