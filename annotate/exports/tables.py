"""The content of an export: typed tables of a release, which are the same in all file formats."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import itemgetter
from typing import Any, NamedTuple

from annotate.exports.provenance import Licence
from annotate.models import Release
from corpora.errors import DomainError
from shared.database.transactions import batches

# Rows of a table that are held in memory at a time.
CHUNK = 10_000

Row = tuple[Any, ...]


class Type(StrEnum):
    """The type of a column's values. Any value may be None."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TEXTS = "list of texts"


class Extra(StrEnum):
    """Columns that an export has only if they are asked for."""

    WORKERS = "workers"
    SECONDS = "seconds"
    KEYWORDS = "keywords"
    REMARKS = "remarks"


class UnknownExtra(DomainError):
    """There is no extra of this name."""


def extras_named(given: Iterable[str]) -> list[Extra]:
    """The extras; each text may be a list with commas. Raises UnknownExtra."""
    names = [name for part in given for name in part.split(",") if name]
    if unknown := [name for name in names if name not in list(Extra)]:
        raise UnknownExtra(f"There is no {unknown[0]!r}. Known are {', '.join(Extra)}.")
    return [Extra(name) for name in names]


class Asked(NamedTuple):
    """The options of an export: extras, domains of images by number instead of the release's own,
    and whether it includes hidden captions."""

    extras: Collection[Extra] = ()
    domains: Mapping[int, str | None] | None = None
    hidden: bool = False


@dataclass(frozen=True)
class Column:
    """A column; `refers_to` is `TABLE.COLUMN` if its values are those of another column."""

    name: str
    type: Type
    about: str
    extra: Extra | None = None
    refers_to: str = ""


@dataclass(frozen=True)
class Table:
    """A table. `rows` begins a new pass over its rows, which have a value for each column.

    If `listed` names a column, JSON lines about images list its values under the table's name.
    """

    name: str
    about: str
    columns: Sequence[Column]
    rows: Callable[[], Iterable[Row]]
    listed: str = ""

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def with_extras(self, extras: Iterable[Extra]) -> "Table":
        """The table without the columns of other extras."""
        kept = [*extras, None]
        return self.only(column.name for column in self.columns if column.extra in kept)

    def only(self, names: Iterable[str]) -> "Table":
        """The table with these columns, in the table's order."""
        wanted = set(names)
        places = [n for n, column in enumerate(self.columns) if column.name in wanted]
        if len(places) == len(self.columns):
            return self
        pick = _picker(places)
        return replace(
            self,
            columns=[self.columns[place] for place in places],
            rows=lambda: map(pick, self.rows()),
        )

    def with_values(self, name: str, values: Callable[[], Iterable[Any]]) -> "Table":
        """The table with other values in one column, given row by row."""
        place = self.names.index(name)

        def rows() -> Iterator[Row]:
            for row, value in zip(self.rows(), values(), strict=True):
                yield (*row[:place], value, *row[place + 1 :])

        return replace(self, rows=rows)

    def values(self, *names: str) -> Iterator[Row]:
        """The values of these columns, row by row."""
        return map(_picker([self.names.index(name) for name in names]), self.rows())

    def dicts(self) -> Iterator[dict[str, Any]]:
        """The rows with the columns' names."""
        names = self.names
        return (dict(zip(names, row, strict=True)) for row in self.rows())

    def batches(self) -> Iterator[list[Row]]:
        """The rows, CHUNK at a time."""
        return batches(self.rows(), CHUNK)


def _picker(places: Sequence[int]) -> Callable[[Row], Row]:
    if len(places) == 1:
        return itemgetter(slice(places[0], places[0] + 1))
    return itemgetter(*places)


def lists(table: Table, key: str) -> Mapping[Any, list[Any]]:
    """The values of the table's listed column, by the value of another column."""
    lists_by_key: dict[Any, list[Any]] = {}
    for value, listed in table.values(key, table.listed):
        lists_by_key.setdefault(value, []).append(listed)
    return lists_by_key


# Begins a new pass over the task type's own files: their names and texts.
OwnFiles = Callable[[], Iterable[tuple[str, Iterable[str]]]]


@dataclass(frozen=True)
class Content:
    """The content of a release as asked for.

    `tables` begins with the table `images`. `own_files` are the files in the task type's own
    format.
    """

    release: Release
    about: str
    tables: Sequence[Table]
    own_files: OwnFiles
    licences: Sequence[Licence]
    extras: Sequence[Extra] = ()
    # How the data were collected, as pairs of a name and a value.
    collection: Sequence[tuple[str, Any]] = ()
    # Name and digest of the table of domains; None if the release has its own domains.
    domains: Mapping[str, Any] | None = None
    # Whether the export has the image files.
    has_images: bool = False

    @property
    def images(self) -> Table:
        return self.tables[0]
