"""The files of Open Images, V2 to V7, read line by line and checked."""

import re
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from annotate.csv_files import CsvFile, MalformedFile, read_json

LABEL = re.compile(r"/[a-z]/[a-z0-9_]+")
IMAGE_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
CLASS_HEADER = ["LabelName", "DisplayName"]
# The root of the hierarchy has no line in the class descriptions.
ROOT_NAME = "Entity"
CHILD_LISTS = {"Subcategory": "SUBCATEGORY", "Part": "PART"}


def read_classes(file: CsvFile) -> Iterator[tuple[str, str]]:
    """(label, name) of each class; V4's files have no header line, V7's have one."""
    names: dict[str, str] = {}
    for number, row in enumerate(file.rows):
        if number == 0 and row == CLASS_HEADER:
            continue
        if len(row) != 2:
            raise file.wrong_length(row, 2)
        label, name = row[0], row[1].strip()
        if not LABEL.fullmatch(label):
            raise file.wrong(f"{label!r} is no class label such as /m/0199g")
        if not 0 < len(name) <= 100:
            raise file.wrong(f"the name of {label} must have 1 to 100 characters")
        if names.setdefault(label, name) != name:
            raise file.wrong(f"{label} was {names[label]!r} before and is {name!r} here")
        yield label, name


class Relation(NamedTuple):
    """An edge of the hierarchy; `kind` is a value of annotate.models.RelationKind."""

    parent: str
    child: str
    kind: str


class Hierarchy(NamedTuple):
    root: str
    relations: list[Relation]


def read_hierarchy(path: Path) -> Hierarchy:
    """The graph that the file writes as a tree: a label that stands in several places is one."""
    root = read_json(path)
    relations: dict[Relation, None] = {}
    label = _node_label(root, path, "the top of the file")
    waiting = [(label, root)]
    while waiting:
        parent, node = waiting.pop()
        for name, kind in CHILD_LISTS.items():
            children = node.get(name, [])
            if not isinstance(children, list):
                raise MalformedFile(path, f"{name} of {parent} is no list")
            for child in children:
                child_label = _node_label(child, path, f"an entry of {name} of {parent}")
                if child_label == parent:
                    raise MalformedFile(path, f"{parent} stands under itself")
                relations[Relation(parent, child_label, kind)] = None
                waiting.append((child_label, child))
    return Hierarchy(label, list(relations))


def _node_label(node: Any, path: Path, place: str) -> str:
    label = node.get("LabelName") if isinstance(node, dict) else None
    if not isinstance(label, str) or not LABEL.fullmatch(label):
        raise MalformedFile(path, f"{place} has no LabelName such as /m/0199g")
    return label


class ImageRecord(NamedTuple):
    """An image's metadata, with the field names of annotate.models.Image."""

    key: str
    rotation: int | None
    url: str
    landing_url: str
    author: str
    author_url: str
    license_url: str
    title: str


IMAGE_COLUMNS = [
    "ImageID",
    "OriginalURL",
    "OriginalLandingURL",
    "Author",
    "AuthorProfileURL",
    "License",
    "Title",
]
ROTATION_COLUMN = "Rotation"
ADDRESS_COLUMNS = ["OriginalURL", "OriginalLandingURL", "AuthorProfileURL", "License"]
LONGEST = dict.fromkeys(ADDRESS_COLUMNS, 500) | {"Author": 300, "Title": 500}


def read_images(file: CsvFile) -> Iterator[ImageRecord]:
    """The records of an image metadata file; the oldest files have no rotation column."""
    names = file.header(IMAGE_COLUMNS)
    seen: dict[str, int] = {}
    for row in file.rows:
        if len(row) != len(names):
            raise file.wrong_length(row, len(names))
        record = _image_record(file, dict(zip(names, row, strict=True)))
        if seen.setdefault(record.key, hash(record)) != hash(record):
            raise file.wrong(f"image {record.key} was described otherwise further up")
        yield record


def _image_record(file: CsvFile, row: Mapping[str, str]) -> ImageRecord:
    if not IMAGE_KEY.fullmatch(row["ImageID"]):
        raise file.wrong(f"{row['ImageID']!r} is no image id")
    for name, longest in LONGEST.items():
        if len(row[name]) > longest:
            raise file.wrong(f"{name} has more than {longest} characters")
        if "\0" in row[name]:
            raise file.wrong(f"{name} has a NUL character")
    for name in ADDRESS_COLUMNS:
        if row[name] and not row[name].startswith(("https://", "http://")):
            raise file.wrong(f"{name} {row[name]!r} is no web address")
    return ImageRecord(
        key=row["ImageID"],
        rotation=_rotation(file, row.get(ROTATION_COLUMN, "")),
        url=row["OriginalURL"],
        landing_url=row["OriginalLandingURL"],
        author=row["Author"],
        author_url=row["AuthorProfileURL"],
        license_url=row["License"],
        title=row["Title"],
    )


def _rotation(file: CsvFile, text: str) -> int | None:
    if text.strip().lower() in {"", "nan"}:
        return None
    try:
        degrees = float(text)
    except ValueError:
        degrees = -1
    if degrees not in {0, 90, 180, 270}:
        raise file.wrong(f"Rotation {text!r} is none of 0, 90, 180, 270, NaN and empty")
    return int(degrees)


EDGE_COLUMNS = ["XMin", "XMax", "YMin", "YMax"]
FLAG_COLUMNS = ["IsOccluded", "IsTruncated", "IsGroupOf", "IsDepiction", "IsInside"]
BOX_COLUMNS = ["ImageID", "LabelName", "Confidence", *EDGE_COLUMNS, *FLAG_COLUMNS]
FLAGS = {"0": 0, "1": 1, "-1": None}
# Without the blanks, underscores and other scripts' digits that Python's float takes as well.
PLAIN_NUMBERS = re.compile(r"[-+.0-9eE]+").fullmatch
# image, class, confidence, four edges, five flags; the order of BOX_COLUMNS.
BoxRow = tuple[Any, ...]


class BoxReader:
    """Reads box files; boxes of unknown images are counted, or are an error if told so.

    Numbers are checked and, for a database that reads text faster, given as they are written.
    """

    def __init__(
        self,
        images: Mapping[str, int],
        classes: Mapping[str, int],
        *,
        require_images: bool = False,
        numbers_as_written: bool = False,
    ) -> None:
        self.images = images
        self.classes = classes
        self.require_images = require_images
        self.numbers_as_written = numbers_as_written
        self.rows_read = 0
        self.skipped = 0

    def read(self, file: CsvFile) -> Iterator[BoxRow]:
        """The boxes with the numbers of image and class in place of key and label.

        The loop is written out and not cut into functions: at a million rows a call for each
        would take as long as the database.
        """
        self.rows_read = self.skipped = 0
        names = file.header(BOX_COLUMNS)
        width = len(names)
        pick = itemgetter(*map(names.index, BOX_COLUMNS))
        images, classes, flags, as_written = (
            self.images, self.classes, FLAGS, self.numbers_as_written
        )  # fmt: skip
        row: Sequence[str]
        for self.rows_read, row in enumerate(file.rows, 1):
            if len(row) != width:
                raise file.wrong_length(row, width)
            key, label, sure, left, right, top, bottom, occ, trunc, group, drawn, inside = pick(row)
            try:
                edges: Sequence[float | str] = (
                    x_min := float(left), x_max := float(right),
                    y_min := float(top), y_max := float(bottom),
                )  # fmt: skip
                # NaN fails every comparison, so it fails here too.
                if not (
                    0.0 <= x_min <= x_max <= 1.0
                    and 0.0 <= y_min <= y_max <= 1.0
                    and 0.0 <= float(sure) <= 1.0
                    and PLAIN_NUMBERS(sure + left + right + top + bottom)
                ):
                    raise ValueError
                if as_written:
                    edges = left, right, top, bottom
                yield (
                    images[key], classes[label], sure if as_written else float(sure), *edges,
                    flags[occ], flags[trunc], flags[group], flags[drawn], flags[inside],
                )  # fmt: skip
            except (ValueError, KeyError):
                reason = self.what_is_wrong(dict(zip(BOX_COLUMNS, pick(row), strict=True)))
                if reason:
                    raise file.wrong(reason) from None
                self.skipped += 1

    def what_is_wrong(self, row: Mapping[str, str]) -> str:
        """Why a row was not taken; empty if it is only to be skipped."""
        for name in ["Confidence", *EDGE_COLUMNS]:
            value = _number(row[name])
            if value is None:
                return f"{name} {row[name]!r} is no number"
            if not 0.0 <= value <= 1.0:
                return f"{name} {row[name]} is not between 0 and 1"
        for low, high in (("XMin", "XMax"), ("YMin", "YMax")):
            if float(row[low]) > float(row[high]):
                return f"{low} {row[low]} is greater than {high} {row[high]}"
        for name in FLAG_COLUMNS:
            if row[name] not in FLAGS:
                return f"{name} {row[name]!r} is none of 0, 1 and -1"
        if row["LabelName"] not in self.classes:
            return f"class {row['LabelName']!r} is not known; import the class descriptions first"
        if not self.require_images:
            return ""
        return f"image {row['ImageID']!r} is not known in this split; import its metadata first"


def _number(text: str) -> float | None:
    """A plain number's value, also that of one that is not finite."""
    if not PLAIN_NUMBERS(text) and text.lower().lstrip("+-") not in {"nan", "inf", "infinity"}:
        return None
    try:
        return float(text)
    except ValueError:
        return None
