"""Tables for people: columns of lists, and CSV for spreadsheets."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.http import StreamingHttpResponse


@dataclass(frozen=True)
class Column:
    """A column of a list.

    `key` names it in the CSV file and in the API, and is the attribute of a row unless `value`
    computes the cell. The page shows it if it has a `heading`; one of details only where there is
    space. `order` has what the list is sorted by if the address asks for `sort` (or the key).
    """

    key: str
    heading: str = ""
    value: Callable[[Any], Any] | None = None
    order: str = ""
    sort: str = ""
    about: str = ""
    is_detail: bool = False

    def cell(self, row: Any) -> Any:
        value = self.value(row) if self.value else getattr(row, self.key)
        return value.isoformat() if isinstance(value, datetime) else value


def csv_table(columns: Sequence[Column], rows: Iterable[Any]) -> Iterator[str]:
    """The rows as CSV that is safe in a spreadsheet, in chunks."""
    cells = ([column.cell(row) for column in columns] for row in rows)
    return csv_lines([column.key for column in columns], cells)


CHUNK = 5000
# A spreadsheet takes a cell that begins with one of these for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_lines(head: Iterable[Any], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """A line with the head and one for each row, in chunks.

    Text that a spreadsheet would take for a formula gets an apostrophe.
    """
    waiting = iter(rows)
    chunk: list[Iterable[Any]] = [head]
    while chunk:
        yield csv_text(map(safe, row) for row in chunk)
        chunk = list(islice(waiting, CHUNK))


class _Lines(list[str]):
    def write(self, line: str) -> None:
        self.append(f"{line.removesuffix(END)}\n")


# Before Python 3.13, the writer quotes line breaks only if its own lines end with them.
END = "\r\n"


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """The rows as CSV, in lines that end with a line feed."""
    lines = _Lines()
    csv.writer(lines, lineterminator=END).writerows(rows)
    return "".join(lines)


def safe(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def csv_download(name: str, lines: Iterable[str]) -> StreamingHttpResponse:
    """The lines as a file to download."""
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response
