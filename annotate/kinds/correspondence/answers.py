"""Workers' answers, and their agreement: the boxes or the kind of each word that one answered.

Such an answer about one word is a set: of boxes, or of a single kind. Sets are compared with
Jaccard's distance, the share of members of their union that are not in both.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from statistics import fmean
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


Value = frozenset[object]
NOTHING: Value = frozenset({WordKind.NOT_VISUAL.value})


def values(words: Words) -> dict[int, Value]:
    """The value of each answered word."""
    return {
        int(number): frozenset({said} if isinstance(said, str) else said)
        for number, said in words.items()
    }


def overlap(one: Words, other: Words) -> float:
    """Similarity of two answers: 2|A∩B| / (|A| + |B|) of their (word, box or kind) pairs.

    1 if both are empty. Words that are not visible do not count.
    """
    a, b = _statements(one), _statements(other)
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0


def _statements(words: Words) -> set[tuple[int, object]]:
    return {
        (number, member)
        for number, value in values(words).items()
        if value != NOTHING
        for member in value
    }


def mean_overlaps(answers: Mapping[int, Words]) -> dict[int, float]:
    """For each answer to one task, its mean overlap with the others; empty for a single answer."""
    overlaps: dict[int, list[float]] = defaultdict(list)
    for one, other in combinations(answers, 2):
        shared = overlap(answers[one], answers[other])
        overlaps[one].append(shared)
        overlaps[other].append(shared)
    return {key: fmean(shares) for key, shares in overlaps.items()}


def distance(one: Value, other: Value) -> float:
    """Jaccard's distance: 0 for equal sets, 1 for disjoint ones."""
    return 1 - len(one & other) / len(one | other)


def units(answers: Sequence[Words]) -> Iterator[list[Value]]:
    """For each word of a caption that any worker answered, the values of all workers.

    A word that a worker skipped counts as not visible.
    """
    given = [values(words) for words in answers]
    for number in sorted({number for worker in given for number in worker}):
        yield [worker.get(number, NOTHING) for worker in given]


def alpha(words: Iterable[Sequence[Value]]) -> float | None:
    """Krippendorff's alpha of the workers' values of each word.

    From Content Analysis (2004), chapter 11: 1 is full agreement, 0 chance agreement; None if all
    values are the same. Implemented here because sets do not fit into an array. Pairs are counted
    by value, so memory grows with the number of distinct values and not of words.
    """
    observed, pairable = 0.0, 0
    counts: Counter[Value] = Counter()
    for unit in words:
        if len(unit) < 2:
            continue
        apart = sum(distance(one, other) for one, other in combinations(unit, 2))
        observed += 2 * apart / (len(unit) - 1)
        pairable += len(unit)
        counts.update(unit)
    expected = 2 * sum(
        counts[one] * counts[other] * distance(one, other) for one, other in combinations(counts, 2)
    )
    return 1 - observed * (pairable - 1) / expected if expected else None
