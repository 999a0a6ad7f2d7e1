"""People's ratings of captions, and given figures of the same captions."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from corpora.errors import DomainError
from corpora.language.english import words
from corpora.language.languages import ENDINGS
from corpora.language.text import normalise
from corpora.reading.files import MalformedFile, short
from corpora.reading.json_files import JsonEntry, entries, is_number
from corpora.reading.tables import CsvFile, open_csv

# Keys of a rating, and columns of `scores.csv`, that are neither a criterion nor a metric.
WORKER = "worker"
# The step of a comparison at which neither caption is better.
EVEN = 3
OTHER_COLUMNS = {"image_id", "source", "image", "file_name", "caption_id", "caption", "raters"}


class Caption(NamedTuple):
    """A caption of a source, and for each criterion the rating of each person who gave one.

    Ratings in a comparison, which has a number, say how much better it is than the other caption.
    """

    image: int
    source: str
    text: str
    ratings: Mapping[str, Sequence[float]]
    comparison: int | None = None


# Floats have every whole number up to this one.
MOST_EXACT = 2**53
# The figure of each caption by image and source.
Figures = Mapping[tuple[int, str], float]


def captions_in(path: Path, content: Mapping[str, Any]) -> list[Caption]:
    """The captions of `ratings.json` or `preferences.json`, in the order of their images.

    An entry of `captions` has `image_id`, `sources` (each with its text), and `ratings` (each an
    object with a number for each criterion) or, instead, `scores` with one number for each. An
    entry of `comparisons` has `image_id`, `a` and `b` (each with `text` and `sources`) and `votes`
    (each an object with a step from 1, `a` is much better, to 5 for each criterion). Raises
    MalformedFile.
    """
    read = _compared if "comparisons" in content else _rated
    captions = sorted(read(path, content), key=lambda caption: (caption.image, caption.source))
    if not criteria_of(captions):
        raise MalformedFile(path, "it has no captions that people rated")
    return captions


def _compared(path: Path, content: Mapping[str, Any]) -> Iterator[Caption]:
    for number, entry in enumerate(entries(path, content, "comparisons")):
        image, votes = entry.whole("image_id"), _ratings(entry, entry.values.get("votes"))
        for side, sign in (("a", 1), ("b", -1)):
            shown = entry.values.get(side)
            if not isinstance(shown, dict) or not isinstance(shown.get("text"), str):
                raise entry.wrong(f"`{side}` has the text and sources of a caption")
            sources = shown.get("sources", [])
            if not isinstance(sources, list) or not all(isinstance(n, str) for n in sources):
                raise entry.wrong(f"`sources` of `{side}` is a list of names")
            ratings = {name: [sign * (EVEN - v) for v in given] for name, given in votes.items()}
            for source in sources:
                yield Caption(image, source, shown["text"], ratings, number)


def _rated(path: Path, content: Mapping[str, Any]) -> Iterator[Caption]:
    for entry in entries(path, content, "captions"):
        image, values = entry.whole("image_id"), entry.values
        ratings = _ratings(entry, values.get("ratings", [values.get("scores")]))
        sources = values.get("sources")
        if not isinstance(sources, dict) or not all(isinstance(t, str) for t in sources.values()):
            raise entry.wrong("`sources` has the text of each source")
        for source, text in sources.items():
            yield Caption(image, source, text, ratings)


def _ratings(entry: JsonEntry, given: Any) -> dict[str, list[float]]:
    by_criterion: dict[str, list[float]] = {}
    for rating in given if isinstance(given, list) else [given]:
        if not isinstance(rating, dict):
            raise entry.wrong(f"{short(rating)} is no rating")
        for name, value in rating.items():
            if name != WORKER and value is not None:
                if not is_number(value):
                    raise entry.wrong(f"{short(value)} is not a number that can be computed with")
                by_criterion.setdefault(name, []).append(value)
    return by_criterion


def systems_in(captions: Sequence[Caption], texts: Mapping[int, str]) -> set[str]:
    """The sources all of whose captions these texts have, by the caption's image."""
    systems = {caption.source for caption in captions}
    return systems - {
        caption.source
        for caption in captions
        if not is_text_of(caption, texts.get(caption.image, ""))
    }


def is_text_of(caption: Caption, text: str) -> bool:
    """Whether the text is the caption's, if both are written as caption sets store them.

    In a comparison the caption is as people saw it, perhaps with a capital first and a full stop
    last, so that its words decide, or the text before the full stop if it has none.
    """
    own, other = normalise(caption.text), normalise(text)
    if caption.comparison is None or not other:
        return own == other
    return (words(own) or own.rstrip(ENDINGS)) == (words(other) or other.rstrip(ENDINGS))


def criteria_of(captions: Sequence[Caption]) -> list[str]:
    """What people rated, in the order of the first caption that has each."""
    return list(dict.fromkeys(name for caption in captions for name in caption.ratings))


def read_figures(
    path: Path, captions: Sequence[Caption], taken: Collection[str]
) -> dict[str, Figures]:
    """The columns of numbers of a CSV file with `image_id` and `source`, by name.

    Such as `scores.csv` of a release with columns of one's own; its own columns, which are people's
    scores, are left out. Each caption needs a number. Raises DomainError.
    """
    columns: dict[str, dict[tuple[int, str], float]] = {}
    sources = {caption.source for caption in captions}
    with open_csv(path) as table:
        header = table.header(["image_id", "source"])
        skipped = {"", *OTHER_COLUMNS, *criteria_of(captions)}
        names = [name for name in header if name not in skipped]
        if clash := sorted({*taken}.intersection(names)):
            raise MalformedFile(
                path, f"{clash[0]} is the name of other figures; give the column another name"
            )
        for row in filter(None, table.rows):
            if len(row) != len(header):
                raise table.wrong_length(row, len(header))
            cells = dict(zip(header, row, strict=True))
            key = _whole(table, cells["image_id"]), _source(cells["source"], sources)
            for name in filter(cells.get, names):
                value = _number(table, cells[name])
                if columns.setdefault(name, {}).setdefault(key, value) != value:
                    raise table.wrong(
                        f"image {key[0]} has another {name} of {key[1]} above; only one caption "
                        "of an image by each source can have figures"
                    )
    if not columns:
        raise MalformedFile(path, "it has no column of numbers but image_id and people's scores")
    for name, figures in columns.items():
        _check_complete(path, name, figures, captions)
    return dict(columns)


def _check_complete(
    path: Path, name: str, figures: Collection[tuple[int, str]], captions: Sequence[Caption]
) -> None:
    for caption in captions:
        if (caption.image, caption.source) not in figures:
            where = f"the caption of image {caption.image} by {caption.source}"
            raise DomainError(f"{path}: {name} has no number for {where}.")


def _source(cell: str, sources: Collection[str]) -> str:
    """The name of a source. Our CSV files have an apostrophe before one that begins like a
    formula."""
    return cell if cell in sources else cell.removeprefix("'")


def _whole(table: CsvFile, cell: str) -> int:
    try:
        return int(cell)
    except ValueError:
        number = _number(table, cell)  # 12.0, as pandas may write it
    if not number.is_integer() or abs(number) > MOST_EXACT:
        raise table.wrong(f"image_id {short(cell)} is not a whole number")
    return int(number)


def _number(table: CsvFile, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not is_number(value):
        raise table.wrong(f"{short(cell)} is not a number that can be computed with")
    return value
