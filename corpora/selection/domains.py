"""The nocaps domains of images, by a table of the classes that COCO's captions know.

A table is a CSV file with the columns `class` and `domain`; further columns are ignored. A class is
given by its label (MID) or by its name, in Open Images V4's or V7's spelling. Classes that a table
does not have are out-of-domain, as in nocaps (Agrawal et al. 2019, section 3.3).
"""

import csv
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from corpora.errors import DomainError
from corpora.reading.files import MalformedFile, is_file, short
from corpora.reading.tables import CsvFile, open_csv

IN_DOMAIN, NEAR_DOMAIN, OUT_OF_DOMAIN = "in-domain", "near-domain", "out-domain"
# The domains that a class can have, with the paper's spelling.
CLASS_DOMAINS = {name: name for name in (IN_DOMAIN, OUT_OF_DOMAIN)} | {
    "out-of-domain": OUT_OF_DOMAIN
}
TABLES = Path(__file__).parent / "tables"
PRESETS = ("coco-80", "nocaps-119")
DEFAULT_PRESET = PRESETS[0]

# A class: its label and its name.
LabelledClass = tuple[str, str]


@dataclass(frozen=True)
class DomainTable:
    """The domains of classes; `rows` has labels, and names in the spelling of Open Images V4."""

    name: str
    sha256: str  # of the file
    rows: Mapping[str, str]

    @property
    def reference(self) -> dict[str, str]:
        """The name and the checksum, by which a release names its table."""
        return {"name": self.name, "sha256": self.sha256}

    def of_class(self, label: str, name: str) -> str:
        """The domain of a class; raises DomainError."""
        by_label, by_name = self.rows.get(label), self.rows.get(v4_name(name))
        if by_label and by_name:
            raise DomainError(
                f"The table {self.name} has one class twice, as {label} and as {name}. Delete one "
                "of the two rows."
            )
        return by_label or by_name or OUT_OF_DOMAIN

    def of_image(self, classes: Iterable[LabelledClass]) -> str | None:
        """The domain of an image by its classes without parts; None if it has no class."""
        domains = {self.of_class(*labelled) for labelled in classes}
        return NEAR_DOMAIN if len(domains) > 1 else next(iter(domains), None)

    def unknown(self, classes: Iterable[LabelledClass]) -> list[str]:
        """The classes of the table that are not among these, in the order of the table."""
        keys = {key for label, name in classes for key in (label, v4_name(name))}
        return [key for key in self.rows if key not in keys]


@cache
def preset(name: str) -> DomainTable:
    """One of the tables that this software includes."""
    return read_table(TABLES / f"{name}.csv")


def table_named(name: str) -> DomainTable:
    """A preset, or the table in the file of this path; raises DomainError."""
    if name in PRESETS:
        return preset(name)
    if not is_file(Path(name)):
        raise DomainError(
            f"There is no table of domains {name!r}. Give {', '.join(PRESETS)}, or the path of a "
            "CSV file with the columns class and domain."
        )
    return read_table(Path(name))


def read_table(path: Path) -> DomainTable:
    """The table in a file; raises MalformedFile, also if a class is in it twice."""
    with open_csv(path) as file:
        names = file.header(["class", "domain"])
        rows = dict(_rows(file, names.index("class"), names.index("domain"), len(names)))
    if not rows:
        raise MalformedFile(path, "the table has no classes")
    return DomainTable(path.stem, hashlib.sha256(path.read_bytes()).hexdigest(), rows)


def _rows(
    file: CsvFile, class_column: int, domain_column: int, width: int
) -> Iterator[tuple[str, str]]:
    lines: dict[str, int] = {}
    for row in file.rows:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != width:
            raise file.wrong_length(row, width)
        written, domain = row[class_column].strip(), row[domain_column].strip()
        if domain not in CLASS_DOMAINS:
            raise file.wrong(f"{short(domain)} is not a domain: use {IN_DOMAIN} or {OUT_OF_DOMAIN}")
        if not written:
            raise file.wrong("the class is missing")
        key = v4_name(_renamed_labels().get(written, written))
        if key in lines:
            raise file.wrong(f"the class {short(written)} is already on line {lines[key]}")
        lines[key] = file.line
        yield key, CLASS_DOMAINS[domain]


def v4_name(name: str) -> str:
    """The name of a class in the spelling of Open Images V4, if V7 renamed it."""
    return _renamed().get(name, name)


@cache
def _renamed() -> dict[str, str]:
    """Names in V4 by names in V7, for the 23 classes whose names differ."""
    return {row["v7"]: row["v4"] for row in _renamed_rows()}


@cache
def _renamed_labels() -> dict[str, str]:
    return {row["class"]: row["v4"] for row in _renamed_rows()}


def _renamed_rows() -> list[dict[str, str]]:
    with (TABLES / "renamed_classes.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
