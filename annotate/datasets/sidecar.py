"""Read the table of facts about own images: credits, classes and boxes, one line or more a file."""

import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from annotate.reading.files import short
from annotate.reading.tables import CsvFile, open_csv

FILE_NAME = "file_name"
EDGES = ("x_min", "x_max", "y_min", "y_max")
# Columns of credits, each with the field of annotate.models.Image that has it.
CREDITS = {
    "license": "license_url",
    "licence": "license_url",
    "license_url": "license_url",
    "author": "author",
    "author_url": "author_url",
    "title": "title",
    "source_page": "landing_url",
    "landing_url": "landing_url",
}
ADDRESSES = {"author_url", "landing_url"}
LONGEST = {"author": 300}
LONGEST_TEXT = 500
LONGEST_CLASS = 60
COLUMNS = (FILE_NAME, "class", "classes", *EDGES, *CREDITS)
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
    """What the table says of one file."""

    line: int
    credits: dict[str, str] = field(default_factory=dict)
    boxes: list[StatedBox] = field(default_factory=list)


class Sidecar(NamedTuple):
    """The facts by file name, and the columns that were ignored."""

    facts: dict[str, Facts]
    ignored: list[str]


def comparable(name: str) -> str:
    """A file name in the form in which the table's names are compared with the files' names.

    Systems write accents in two ways, so that the same name may have different characters.
    """
    return unicodedata.normalize("NFC", name.removeprefix("./"))


def read_sidecar(path: Path) -> Sidecar:
    """Read and check a table of facts; raises MalformedFile with the line."""
    facts: dict[str, Facts] = {}
    with open_csv(path) as file:
        header = file.header([FILE_NAME])
        for row in file.rows:
            if not any(row):
                continue
            if len(row) != len(header):
                raise file.wrong_length(row, len(header))
            cells = {name: cell.strip() for name, cell in zip(header, row, strict=True)}
            if not cells[FILE_NAME]:
                raise file.wrong("file_name is empty")
            found = facts.setdefault(comparable(cells[FILE_NAME]), Facts(file.line))
            _add_credits(file, found, cells)
            found.boxes += _boxes(file, cells)
    return Sidecar(facts, [name for name in header if name and name not in COLUMNS])


def _add_credits(file: CsvFile, found: Facts, cells: dict[str, str]) -> None:
    for column, name in CREDITS.items():
        if not (text := cells.get(column, "")):
            continue
        value = _licence(file, text) if name == "license_url" else text
        if name in ADDRESSES and not _is_address(value):
            raise file.wrong(f"{column} {short(value)} is not an http or https address")
        most = LONGEST.get(name, LONGEST_TEXT)
        if len(value) > most:
            raise file.wrong(f"{column} has more than {most} characters")
        if found.credits.setdefault(name, value) != value:
            raise file.wrong(f"{column} differs from what another line says of the same file")


def _licence(file: CsvFile, text: str) -> str:
    """The address of a licence, given as an address or as a name such as CC BY 4.0."""
    if _is_address(text):
        return text
    if DEDICATION.fullmatch(text):
        return "https://creativecommons.org/publicdomain/zero/1.0/"
    if found := COMMONS.fullmatch(text):
        return f"https://creativecommons.org/licenses/{found[1].lower()}/{found[2]}/"
    raise file.wrong(
        f"the licence {short(text)} is not known; write its address, or a name such as CC BY 4.0 "
        "or CC0"
    )


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and " " not in text
    except ValueError:
        return False


def _boxes(file: CsvFile, cells: dict[str, str]) -> list[StatedBox]:
    names = [name.strip() for name in cells.get("classes", "").split(";") if name.strip()]
    # An object whose place is not known may be anywhere in the image.
    boxes = [StatedBox(_class(file, name), 0.0, 1.0, 0.0, 1.0, file.line) for name in names]
    edges = [cells.get(name, "") for name in EDGES]
    if name := cells.get("class", ""):
        values = _edges(file, edges) if any(edges) else (0.0, 1.0, 0.0, 1.0)
        boxes.append(StatedBox(_class(file, name), *values, file.line))
    elif any(edges):
        raise file.wrong("a box needs a class")
    return boxes


def _class(file: CsvFile, name: str) -> str:
    if len(name) > LONGEST_CLASS:
        raise file.wrong(f"a class name has more than {LONGEST_CLASS} characters")
    return name


def _edges(file: CsvFile, texts: list[str]) -> tuple[float, float, float, float]:
    try:
        x_min, x_max, y_min, y_max = map(float, texts)
    except ValueError as error:
        raise file.wrong(f"{', '.join(EDGES)} must be four numbers") from error
    # Written so that NaN, which compares as false, is refused as well.
    if not (0 <= x_min < x_max < float("inf") and 0 <= y_min < y_max < float("inf")):
        raise file.wrong("a box needs 0 ≤ x_min < x_max and 0 ≤ y_min < y_max")
    return x_min, x_max, y_min, y_max
