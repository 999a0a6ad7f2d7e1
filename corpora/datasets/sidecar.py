"""Read the table of facts about own images: credits, classes and boxes, one line or more a file."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from corpora.reading.entries import open_entries
from corpora.reading.files import MalformedFile, short

FILE_NAME = "file_name"
EDGES = ("x_min", "x_max", "y_min", "y_max")
# Columns of credits and context, each with the field of the site's images that has it.
CREDITS = {
    "license": "license_url",
    "licence": "license_url",
    "license_url": "license_url",
    "author": "author",
    "author_url": "author_url",
    "title": "title",
    "context": "context",
    "source_page": "landing_url",
    "landing_url": "landing_url",
}
ADDRESSES = {"author_url", "landing_url"}
LONGEST = {"author": 300, "context": 2_000}
LONGEST_TEXT = 500
LONGEST_CLASS = 60
COLUMNS = (FILE_NAME, "class", "classes", "boxes", *EDGES, *CREDITS)
WHOLE = (0.0, 1.0, 0.0, 1.0)
COMMONS = re.compile(r"cc[ -]?(by(?:-(?:nc|nd|sa|nc-sa|nc-nd))?)[ -](\d\.\d)", re.IGNORECASE)
DEDICATION = re.compile(r"cc[ -]?(?:0|zero)(?:[ -]1\.0)?", re.IGNORECASE)


class StatedBox(NamedTuple):
    """A box as the table states it: in pixels, or in fractions of the image's width and height."""

    name: str
    x_min: float
    x_max: float
    y_min: float
    y_max: float
    line: int

    @property
    def is_in_pixels(self) -> bool:
        return max(self.x_max, self.y_max) > 1


@dataclass
class Facts:
    """The table's entry of one file."""

    line: int
    credits: dict[str, str] = field(default_factory=dict)
    boxes: list[StatedBox] = field(default_factory=list)


class Sidecar(NamedTuple):
    """The facts by file name, and the columns that were ignored."""

    facts: dict[str, Facts]
    ignored: list[str]


def comparable(name: str) -> str:
    """A file name in the form in which the table's names are compared with the files' names.

    Systems write accents and folders in two ways, so that the same name may have different
    characters.
    """
    return unicodedata.normalize("NFC", name.replace("\\", "/").removeprefix("./"))


class _Line(NamedTuple):
    """An entry's line of a file, for messages."""

    file: str
    number: int

    def wrong(self, reason: str) -> MalformedFile:
        return MalformedFile(self.file, reason, self.number)


def read_sidecar(path: Path, *, name: str | None = None) -> Sidecar:
    """Read and check a table of facts: CSV, JSON lines or a JSON array.

    Raises MalformedFile with the line. `name` is the file's name in messages.
    """
    facts: dict[str, Facts] = {}
    used: dict[str, None] = {}
    with open_entries(path, name=name) as file:
        file.require([FILE_NAME])
        for entry in file.rows:
            line = _Line(file.name, entry.line)
            if entry.fault:
                raise line.wrong(entry.fault)
            used |= dict.fromkeys(entry.values)
            _add(facts, entry.values, line)
    return Sidecar(facts, [name for name in used if name and name not in COLUMNS])


def _add(facts: dict[str, Facts], values: Mapping[str, Any], line: _Line) -> None:
    cells = {
        name: _text(line, name, value)
        for name, value in values.items()
        if name in COLUMNS and name not in {"classes", "boxes"}
    }
    if not cells.get(FILE_NAME):
        raise line.wrong("file_name is empty")
    of_file = facts.setdefault(comparable(cells[FILE_NAME]), Facts(line.number))
    _add_credits(line, of_file, cells)
    of_file.boxes += _whole_image(line, values.get("classes"))
    of_file.boxes += _box(line, cells)
    boxes = values.get("boxes") or []
    if not isinstance(boxes, list) or not all(map(_is_box, boxes)):
        raise line.wrong("boxes must be a list of objects with class, x_min, x_max, y_min, y_max")
    for box in boxes:
        of_file.boxes += _box(line, {name: _text(line, name, value) for name, value in box.items()})


def _is_box(value: Any) -> bool:
    """Whether the value is an object with an edge, without which a box is the whole image."""
    return isinstance(value, dict) and not value.keys().isdisjoint(EDGES)


def _text(line: _Line, name: str, value: Any) -> str:
    """A cell, or a value of a JSON object, as text."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise line.wrong(f"{name} must be a text or a number")
    return str(value).strip()


def _add_credits(line: _Line, of_file: Facts, cells: Mapping[str, str]) -> None:
    if cells.get("license_url"):  # Our own tables have the licence's name beside its address.
        cells = {**cells, "license": "", "licence": ""}
    for column, name in CREDITS.items():
        if not (text := cells.get(column, "")):
            continue
        value = _licence(line, text) if name == "license_url" else text
        if name in ADDRESSES and not _is_address(value):
            raise line.wrong(f"{column} {short(value)} is not an http or https address")
        most = LONGEST.get(name, LONGEST_TEXT)
        if len(value) > most:
            raise line.wrong(f"{column} has more than {most} characters")
        if of_file.credits.setdefault(name, value) != value:
            raise line.wrong(f"{column} differs from what another line says of the same file")


def _licence(line: _Line, text: str) -> str:
    """The address of a licence, given as an address or as a name such as CC BY 4.0."""
    if _is_address(text):
        return text
    if DEDICATION.fullmatch(text):
        return "https://creativecommons.org/publicdomain/zero/1.0/"
    if match := COMMONS.fullmatch(text):
        return f"https://creativecommons.org/licenses/{match[1].lower()}/{match[2]}/"
    raise line.wrong(
        f"the licence {short(text)} is not known; write its address, or a name such as CC BY 4.0 "
        "or CC0"
    )


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and " " not in text
    except ValueError:
        return False


def _whole_image(line: _Line, classes: Any) -> list[StatedBox]:
    """A box around the whole image for each class, because the object may be anywhere in it."""
    names = classes.split(";") if isinstance(classes, str) else classes or []
    if not isinstance(names, list):
        raise line.wrong("classes must be a list of names")
    texts = [_text(line, "classes", name) for name in names]
    return [StatedBox(_class(line, name), *WHOLE, line.number) for name in texts if name]


def _box(line: _Line, cells: Mapping[str, str]) -> list[StatedBox]:
    edges = [cells.get(name, "") for name in EDGES]
    if name := cells.get("class", ""):
        values = _edges(line, edges) if any(edges) else WHOLE
        return [StatedBox(_class(line, name), *values, line.number)]
    if any(edges):
        raise line.wrong("a box needs a class")
    return []


def _class(line: _Line, name: str) -> str:
    if len(name) > LONGEST_CLASS:
        raise line.wrong(f"a class name has more than {LONGEST_CLASS} characters")
    return name


def _edges(line: _Line, texts: list[str]) -> tuple[float, float, float, float]:
    try:
        x_min, x_max, y_min, y_max = map(float, texts)
    except ValueError as error:
        raise line.wrong(f"{', '.join(EDGES)} must be four numbers") from error
    # Written so that NaN, which compares as false, is refused as well.
    if not (0 <= x_min < x_max < float("inf") and 0 <= y_min < y_max < float("inf")):
        raise line.wrong("a box needs 0 ≤ x_min < x_max and 0 ≤ y_min < y_max")
    if 1 < max(x_max, y_max) < 2:
        raise line.wrong("the box is smaller than two pixels; a fraction is at most 1")
    return x_min, x_max, y_min, y_max
