"""Read CSV files and similar tables, separated by commas, semicolons, tabs or vertical bars."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from corpora.reading.files import MalformedFile, Progress, no_progress, open_text

SEPARATORS = ",;\t|"
# The csv module's limit of 131,072 characters is too low for pasted texts. Without a limit, a
# quotation mark that is never closed would read the rest of the file into memory.
MOST_IN_A_CELL = 10_000_000
csv.field_size_limit(MOST_IN_A_CELL)
EXPLAINED = {
    "unexpected end of data": "unexpected end of data: a quotation mark that opens a cell here is "
    "never closed",
    "field larger than field limit": f"a cell has more than {MOST_IN_A_CELL:,} characters; a "
    "quotation mark that opens it may not be closed",
    "expected after": "a quotation mark inside a quoted cell must be written twice",
}


class CsvFile:
    """An open table. `rows` yields its rows; the latest one begins at `line` and ends at `end`."""

    def __init__(self, name: Path | str, lines: Iterable[str], *, before: int = 0) -> None:
        """`before` is the number of lines of the file that were read already."""
        self.name = name
        self.line = self.end = before
        lines = iter(lines)
        first = next(lines, "")
        self.separator = separator_of(first)
        self._reader = csv.reader(chain([first], lines), delimiter=self.separator, strict=True)
        self.rows = self._rows()

    def wrong(self, reason: str) -> MalformedFile:
        """The error to raise about the row that was read last."""
        return MalformedFile(self.name, reason, max(self.line, 1))

    def wrong_length(self, row: Sequence[str], wanted: int) -> MalformedFile:
        """The error to raise about a row whose length differs from the header's."""
        return self.wrong(f"{wanted} fields are expected, there are {len(row)}")

    def header(self, required: Sequence[str]) -> list[str]:
        """The column names in the first line; raises MalformedFile if a required one is missing."""
        names = [name.strip() for name in next(self.rows, [])]
        missing = [name for name in required if name not in names]
        if missing and len(missing) == len(required):
            raise self.wrong(f"the header line is missing; it names at least {', '.join(required)}")
        if missing:
            raise self.wrong(f"the header has no column {', '.join(missing)}")
        named = [name for name in names if name]
        if len(set(named)) < len(named):
            raise self.wrong("the header names a column twice")
        return names

    def _rows(self) -> Iterator[list[str]]:
        """The rows as csv reads them; raises MalformedFile with the first line of a faulty row."""
        before = self.end
        try:
            for row in self._reader:
                self.line, self.end = self.end + 1, before + self._reader.line_num
                yield row
        except csv.Error as error:
            raise MalformedFile(self.name, explained(error), self.end + 1) from error


def explained(error: csv.Error) -> str:
    """Describe a csv error in words for users."""
    return next((reason for part, reason in EXPLAINED.items() if part in str(error)), str(error))


def separator_of(line: str) -> str:
    """The separator that splits the first line into the most cells; a comma if several do."""

    def cells(separator: str) -> int:
        # A longer line can have a cell that the csv module does not read.
        return len(next(csv.reader([line[:MOST_IN_A_CELL]], delimiter=separator), []))

    return max(SEPARATORS, key=cells)


@contextmanager
def open_csv(path: Path, progress: Progress = no_progress) -> Iterator[CsvFile]:
    """Open a table; its faults are raised as MalformedFile inside the block."""
    with open_text(path, progress) as text:
        yield CsvFile(text.name, text.lines())
