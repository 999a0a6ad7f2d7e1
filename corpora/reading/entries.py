"""Read a list of entries from a table, JSON lines or a JSON array.

An entry that cannot be read is reported with its line, and reading continues with the next one.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from corpora.reading.files import MalformedFile, Progress, Text, count_lines, no_progress, open_text
from corpora.reading.json_files import NotJson, check_texts, parse_json
from corpora.reading.tables import CsvFile

NO_OBJECT = "a JSON object is expected"
BLANK = re.compile(r"[ \t\r\n]*")


class Entry(NamedTuple):
    """The line on which an entry begins, and its values, or an error message in `fault`."""

    line: int
    values: Mapping[str, Any]
    fault: str = ""


class Entries(NamedTuple):
    """An open file of entries; `columns` is None if they are JSON objects."""

    name: str
    columns: list[str] | None
    rows: Iterator[Entry]

    def require(self, columns: Sequence[str]) -> None:
        """Raise MalformedFile if the file is a table without one of these columns."""
        missing = [name for name in columns if name not in (self.columns or columns)]
        if missing:
            raise MalformedFile(
                self.name,
                f"this is neither JSON nor a table with the column {missing[0]}; the first line "
                f"has {listed(self.columns or [])}",
                1,
            )


def listed(names: Sequence[str]) -> str:
    """Column names for an error message, shortened if they are long or many."""
    shown = [name if len(name) <= 60 else f"{name[:57]}…" for name in names[:40]]
    return ", ".join(shown) + (", …" if len(names) > 40 else "")


@contextmanager
def open_entries(
    path: Path, progress: Progress = no_progress, *, name: str | None = None
) -> Iterator[Entries]:
    """Open the file and yield its entries.

    Raises MalformedFile, at once or while the entries are read, if the file has none of the forms.
    """
    with open_text(path, progress, name=name) as text:
        yield _entries(str(text.name), text)


def _entries(name: str, text: Text) -> Entries:
    lines, before = text.lines(), 0
    for first in lines:
        if first.strip():
            break
        before += 1
    else:
        raise MalformedFile(name, "the file is empty")
    lines = chain([first], lines)
    begins = first.lstrip()[0]
    if begins == "{":
        return Entries(name, None, _json_lines(lines, before))
    if begins == "[":
        return Entries(name, None, _json_list(name, list(lines), before))
    table = CsvFile(name, lines, before=before)
    columns = table.header([])
    return Entries(name, columns, _table_rows(table, columns))


def _table_rows(table: CsvFile, columns: list[str]) -> Iterator[Entry]:
    """The rows as entries. Mechanical Turk's site omits empty cells at the end of a row."""
    for row in table.rows:
        if len(row) > len(columns):
            reason = f"{len(columns)} fields are expected, there are {len(row)}"
            yield Entry(table.line, {}, reason)
        elif any(map(str.strip, row)):
            row += [""] * (len(columns) - len(row))
            yield Entry(table.line, dict(zip(columns, row, strict=True)))


def _json_lines(lines: Iterator[str], before: int) -> Iterator[Entry]:
    for number, line in enumerate(lines, start=before + 1):
        if line.strip():
            try:
                yield _entry(number, parse_json(line))
            except NotJson as error:
                yield Entry(number, {}, str(error))


def _json_list(name: str, lines: list[str], before: int) -> Iterator[Entry]:
    """The entries of a file that begins with a bracket.

    The file is JSON lines if its first line is a complete value and others follow, else one array.
    """
    if any(map(str.strip, lines[1:])) and _is_json(lines[0]):
        return _json_lines(iter(lines), before)
    return _Array(name, "".join(lines), before).entries()


def _is_json(line: str) -> bool:
    try:
        parse_json(line)
    except NotJson:
        return False
    return True


def _entry(line: int, value: Any) -> Entry:
    return Entry(line, value) if isinstance(value, dict) else Entry(line, {}, NO_OBJECT)


class _Array:
    """A JSON array that is parsed value by value, so that not all values are in memory."""

    def __init__(self, name: str, text: str, before: int) -> None:
        self._name, self._text, self._line = name, text, before + 1
        self._at = 0
        self._decode = json.JSONDecoder().raw_decode

    def entries(self) -> Iterator[Entry]:
        self._skip(1)
        while not self._is_at("]"):
            yield self._next()
            if self._is_at(","):
                self._skip(1)
                if self._is_at("]"):
                    raise self._wrong("not valid JSON: a value is expected after the comma")
            elif not self._is_at("]"):
                raise self._wrong("not valid JSON: a comma or ] is expected")
        self._skip(1)
        if self._at < len(self._text):
            raise self._wrong("there is more text after the end of the JSON array")

    def _next(self) -> Entry:
        line, begins = self._line, self._at
        try:
            value, end = self._decode(self._text, begins)
        except json.JSONDecodeError as error:
            self._move(error.pos)
            raise self._wrong(f"not valid JSON: {error.msg}") from error
        except RecursionError as error:
            raise self._wrong("the JSON is nested too deeply") from error
        except ValueError as error:
            raise self._wrong("a number has more digits than can be read") from error
        self._move(end)
        self._skip(0)
        try:
            check_texts(value, self._text[begins:end])
        except NotJson as error:
            return Entry(line, {}, str(error))
        return _entry(line, value)

    def _is_at(self, character: str) -> bool:
        return self._text.startswith(character, self._at)

    def _skip(self, characters: int) -> None:
        """Move forward by this number of characters and past the whitespace after them."""
        blank = BLANK.match(self._text, self._at + characters)
        self._move(blank.end() if blank else len(self._text))

    def _move(self, to: int) -> None:
        self._line += count_lines(self._text[self._at : to])
        self._at = to

    def _wrong(self, reason: str) -> MalformedFile:
        return MalformedFile(self._name, reason, self._line)
