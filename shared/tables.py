"""Columns of lists. Each is declared once, for the page, its order, the CSV file and the API."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from shared.csv_text import csv_lines


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
        found = self.value(row) if self.value else getattr(row, self.key)
        return found.isoformat() if isinstance(found, datetime) else found


def csv_table(columns: Sequence[Column], rows: Iterable[Any]) -> Iterator[str]:
    """The rows as CSV that is safe in a spreadsheet, in chunks."""
    cells = ([column.cell(row) for column in columns] for row in rows)
    return csv_lines([column.key for column in columns], cells)
