"""Read and check the files of Open Images V2 to V7, and names of classes in other languages."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corpora.reading.blocks import Block, BlockFile
from corpora.reading.files import MalformedFile, short
from corpora.reading.json_files import read_json
from corpora.reading.tables import CsvFile

LABEL = re.compile(r"/[a-z]/[a-z0-9_]{1,61}")
IMAGE_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
CLASS_HEADER = ["LabelName", "DisplayName"]
# The root of the hierarchy is missing from the class descriptions.
ROOT_NAME = "Entity"
CHILD_LISTS = {"Subcategory": "SUBCATEGORY", "Part": "PART"}


def read_classes(file: CsvFile) -> Iterator[tuple[str, str]]:
    """Yield (label, name) of each class. Files of V4 have no header line, files of V7 have one."""
    names: dict[str, str] = {}
    for number, row in enumerate(file.rows):
        if number == 0 and row == CLASS_HEADER:
            continue
        if len(row) != 2:
            raise file.wrong_length(row, 2)
        label, name = row[0], row[1].strip()
        if not LABEL.fullmatch(label):
            raise file.wrong(f"{short(label)} is not a class label such as /m/0199g")
        if not 0 < len(name) <= 100:
            raise file.wrong(f"the name of {label} must have 1 to 100 characters")
        if names.setdefault(label, name) != name:
            raise file.wrong(f"{label} was {names[label]!r} before and is {name!r} here")
        yield label, name


class Relation(NamedTuple):
    """An edge of the hierarchy; `kind` is one of the site's kinds of relations."""

    parent: str
    child: str
    kind: str


class Hierarchy(NamedTuple):
    root: str
    relations: list[Relation]


def read_hierarchy(path: Path) -> Hierarchy:
    """The graph that the file represents as a tree, in which a label may occur several times."""
    root = read_json(path)
    relations: dict[Relation, None] = {}
    label = _node_label(root, path, "the top of the file")
    waiting = [(label, root)]
    while waiting:
        parent, node = waiting.pop()
        for name, kind in CHILD_LISTS.items():
            children = node.get(name, [])
            if not isinstance(children, list):
                raise MalformedFile(path, f"{name} of {parent} is not a list")
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
    """Metadata of an image, with the field names of the site's images."""

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
    """Yield the records of an image metadata file. The oldest files have no rotation column."""
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
        raise file.wrong(f"{short(row['ImageID'])} is not an image id")
    for name, longest in LONGEST.items():
        if len(row[name]) > longest:
            raise file.wrong(f"{name} has more than {longest} characters")
    for name in ADDRESS_COLUMNS:
        if row[name] and not row[name].startswith(("https://", "http://")):
            raise file.wrong(f"{name} {short(row[name])} is not a web address")
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
        raise file.wrong(f"Rotation {short(text)} is none of 0, 90, 180, 270, NaN and empty")
    return int(degrees)


EDGE_COLUMNS = ["XMin", "XMax", "YMin", "YMax"]
FLAG_COLUMNS = ["IsOccluded", "IsTruncated", "IsGroupOf", "IsDepiction", "IsInside"]
BOX_COLUMNS = ["ImageID", "LabelName", "Confidence", *EDGE_COLUMNS, *FLAG_COLUMNS]
FLAGS = {"0": 0, "1": 1, "-1": -1}
# Stands for an unknown image; primary keys are positive.
UNKNOWN_IMAGE = -1
# Python's float also accepts whitespace, underscores and digits of other scripts.
PLAIN = "-+.0123456789eE"
PLAIN_NUMBERS = re.compile(r"[-+.0-9eE]+").fullmatch
# Columns: image, class, confidence, four edges and five flags, of which -1 is unknown, as in
# BOX_COLUMNS.
BoxColumns = list[np.ndarray]


class BoxReader:
    """Reads box files; boxes of unknown images are counted, or are an error with `require_images`.

    Whole columns are checked at once, which is fast. Single rows are checked only to find out which
    row of a block is wrong.
    """

    def __init__(
        self,
        images: Mapping[str, int],
        classes: Mapping[str, int],
        *,
        require_images: bool = False,
    ) -> None:
        self.images = images
        self.classes = classes
        self.require_images = require_images
        self.rows_read = 0
        self.skipped = 0

    def read(self, file: BlockFile) -> Iterator[BoxColumns]:
        """Yield the boxes as columns, with primary keys in place of image keys and labels."""
        self.rows_read = self.skipped = 0
        for block in file.blocks(BOX_COLUMNS):
            try:
                columns = self._checked(block)
            except (ValueError, KeyError):
                raise self._first_mistake(file, block) from None
            self.rows_read += len(block.lines)
            has_image = columns[0] != UNKNOWN_IMAGE
            if not has_image.all():
                if self.require_images:
                    raise self._first_mistake(file, block)
                self.skipped += int((~has_image).sum())
                columns = [column[has_image] for column in columns]
            yield columns

    def _checked(self, block: Block) -> BoxColumns:
        """The block's values; raises ValueError or KeyError if one is invalid."""
        keys, labels, *values = block.columns
        numbers, flags = values[: 1 + len(EDGE_COLUMNS)], values[1 + len(EDGE_COLUMNS) :]
        if "".join(map("".join, numbers)).encode("ascii").translate(None, PLAIN.encode()):
            raise ValueError
        sure = _confidences(numbers[0])
        edges = [_filled(map(float, column), float, keys) for column in numbers[1:]]
        x_min, x_max, y_min, y_max = edges
        for low, high in ((sure, sure), (x_min, x_max), (y_min, y_max)):
            # NaN fails every comparison, so it is refused here, too.
            if not ((low >= 0.0) & (low <= high) & (high <= 1.0)).all():
                raise ValueError
        return [
            _filled(map(self.images.get, keys, repeat(UNKNOWN_IMAGE)), np.int64, keys),
            _filled(map(self.classes.__getitem__, labels), np.int64, keys),
            sure,
            *edges,
            *map(_flags, flags),
        ]

    def _first_mistake(self, file: BlockFile, block: Block) -> MalformedFile:
        for line, row in zip(block.lines, zip(*block.columns, strict=True), strict=True):
            if reason := self.what_is_wrong(dict(zip(BOX_COLUMNS, row, strict=True))):
                return file.wrong(reason, line)
        raise AssertionError(f"{file.path}: a block was refused, and none of its rows is wrong")

    def what_is_wrong(self, row: Mapping[str, str]) -> str:
        """The reason to refuse a row; empty if it is valid or only skipped."""
        return _wrong_edge(row) or _wrong_flag(row) or self._unknown(row)

    def _unknown(self, row: Mapping[str, str]) -> str:
        if row["LabelName"] not in self.classes:
            return (
                f"class {short(row['LabelName'])} is not known; import the class descriptions first"
            )
        if row["ImageID"] in self.images or not self.require_images:
            return ""
        return (
            f"image {short(row['ImageID'])} is not known in this split; import its metadata first"
        )


def _wrong_edge(row: Mapping[str, str]) -> str:
    for name in ["Confidence", *EDGE_COLUMNS]:
        value = _number(row[name])
        if value is None:
            return f"{name} {short(row[name])} is not a number"
        if not 0.0 <= value <= 1.0:
            return f"{name} {row[name][:40]} is not between 0 and 1"
    for low, high in (("XMin", "XMax"), ("YMin", "YMax")):
        if float(row[low]) > float(row[high]):
            return f"{low} {row[low]} is greater than {high} {row[high]}"
    return ""


def _wrong_flag(row: Mapping[str, str]) -> str:
    for name in FLAG_COLUMNS:
        if row[name] not in FLAGS:
            return f"{name} {short(row[name])} is none of 0, 1 and -1"
    return ""


def _confidences(column: Sequence[str]) -> np.ndarray:
    """The column as numbers; raises ValueError. Usually all are 1: drawn or confirmed by people."""
    if column.count("1") == len(column):
        return np.ones(len(column))
    return _filled(map(float, column), float, column)


def _flags(column: Sequence[str]) -> np.ndarray:
    """The flags as numbers; raises KeyError."""
    if set(column) <= {"0", "1"}:
        # All values have one character, "0" or "1", which differ in the lowest bit.
        return np.frombuffer("".join(column).encode(), np.int8) & 1
    return _filled(map(FLAGS.__getitem__, column), np.int8, column)


def _filled(values: Iterable[float], kind: type, like: Sequence[str]) -> np.ndarray:
    return np.fromiter(values, kind, len(like))


def _number(text: str) -> float | None:
    """The value of a plain number, which may be infinite or NaN; None for other text."""
    if not PLAIN_NUMBERS(text) and text.lower().lstrip("+-") not in {"nan", "inf", "infinity"}:
        return None
    try:
        return float(text)
    except ValueError:
        return None


# First lines that name the columns: of Open Images, and of tables that people write.
HEADERS = [("labelname", "displayname"), ("label", "name"), ("class", "name")]
LONGEST_NAME = 100


class NamedClass(NamedTuple):
    """A row: the class by its label or its English name, and its name in the language."""

    label_or_name: str
    name: str


def read_class_names(file: CsvFile) -> Iterator[NamedClass]:
    """Yield the rows of a table with two columns, with or without a header line.

    Raises MalformedFile with the line if a row has another length, if a name is empty or too long,
    or if a class has two names.
    """
    before: dict[str, str] = {}
    for number, row in enumerate(row for row in file.rows if any(map(str.strip, row))):
        if len(row) != 2:
            raise file.wrong_length(row, 2)
        key, name = (cell.strip() for cell in row)
        if number == 0 and (key.lower(), name.lower()) in HEADERS:
            continue
        if not key:
            raise file.wrong("the class has no label")
        if not 0 < len(name) <= LONGEST_NAME:
            raise file.wrong(f"the name of {short(key)} must have 1 to {LONGEST_NAME} characters")
        if before.setdefault(key.casefold(), name) != name:
            raise file.wrong(
                f"{short(key)} was {before[key.casefold()]!r} before and is {name!r} here"
            )
        yield NamedClass(key, name)
