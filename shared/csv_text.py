"""CSV for people who open it in a spreadsheet."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice
from typing import Any

from django.http import StreamingHttpResponse

CHUNK = 5000
# A spreadsheet takes a cell that begins with one of these for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_line(cells: Sequence[Any]) -> str:
    """A line of CSV. Text that a spreadsheet would take for a formula gets an apostrophe."""
    return "".join(csv_lines(cells, ()))


def csv_lines(head: Iterable[Any], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """A line with the head and one for each row, safe like `csv_line`, in chunks."""
    waiting = iter(rows)
    chunk: list[Iterable[Any]] = [head]
    while chunk:
        text = StringIO()
        csv.writer(text, lineterminator="\n").writerows(map(safe, row) for row in chunk)
        yield text.getvalue()
        chunk = list(islice(waiting, CHUNK))


def safe(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def csv_download(name: str, lines: Iterable[str]) -> StreamingHttpResponse:
    """The lines as a file to download."""
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response
