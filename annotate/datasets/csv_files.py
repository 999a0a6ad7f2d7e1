"""CSV files as data sets publish them: large, now and then packed, and not to be trusted."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from annotate.errors import DomainError

# Told how many bytes were read since it was last told.
Progress = Callable[[int], object]
READ_SIZE = 1 << 18
NOT_UTF8 = "the text is not UTF-8"


def no_progress(size: int) -> None:
    """For callers that show none."""


class MalformedFile(DomainError):
    """A file that cannot be taken in; the message names the file, the line and the reason."""

    def __init__(self, path: Path, reason: str, line: int | None = None) -> None:
        place = str(path) if line is None else f"{path}:{line}"
        super().__init__(f"{place}: {reason}")


class CsvFile(NamedTuple):
    """An open file: `rows` is csv's own reader, so that a loop over it costs no more than csv."""

    path: Path
    rows: Any

    def wrong(self, reason: str) -> MalformedFile:
        """The error to raise about the row that was read last."""
        return MalformedFile(self.path, reason, self.rows.line_num)

    def wrong_length(self, row: Sequence[str], wanted: int) -> MalformedFile:
        """The error to raise about a row that has not as many fields as the header."""
        return self.wrong(f"{wanted} fields are expected, there are {len(row)}")

    def header(self, required: Sequence[str]) -> list[str]:
        """The names of the first line; raises MalformedFile if a required one is not there."""
        names: list[str] = next(self.rows, [])
        missing = [name for name in required if name not in names]
        if missing and len(missing) == len(required):
            raise self.wrong(f"the header line is missing; it names at least {', '.join(required)}")
        if missing:
            raise self.wrong(f"the header has no column {', '.join(missing)}")
        if len(set(names)) < len(names):
            raise self.wrong("the header names a column twice")
        return names


class _Watched(io.FileIO):
    """A file that tells how much of it was read."""

    def __init__(self, path: Path, progress: Progress) -> None:
        super().__init__(path)
        self._progress = progress

    def readinto(self, buffer: Any) -> int:
        size = super().readinto(buffer)
        self._progress(size or 0)
        return size


@contextmanager
def open_csv(path: Path, progress: Progress = no_progress) -> Iterator[CsvFile]:
    """The file's rows (UTF-8 with or without a mark, any line ends, `.gz` unpacked).

    What csv, the decoder or the disk finds wrong while the block runs is raised as MalformedFile.
    """
    with open_text(path, progress) as text:
        rows = csv.reader(text, strict=True)
        try:
            yield CsvFile(path, rows)
        except csv.Error as error:
            raise MalformedFile(path, str(error), rows.line_num) from error
        except UnicodeDecodeError as error:
            raise MalformedFile(path, NOT_UTF8, rows.line_num + 1) from error


@contextmanager
def open_text(path: Path, progress: Progress = no_progress) -> Iterator[io.TextIOWrapper]:
    """The file's text (UTF-8 with or without a mark, line ends as they are, `.gz` unpacked).

    What the decoder or the disk finds wrong while the block runs is raised as MalformedFile.
    """
    with open_bytes(path, progress) as binary:
        try:
            yield io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")
        except UnicodeDecodeError as error:
            raise MalformedFile(path, NOT_UTF8) from error


@contextmanager
def open_bytes(path: Path, progress: Progress = no_progress) -> Iterator[Any]:
    """The file's bytes, `.gz` unpacked; what the disk or zlib finds wrong while the block runs is
    raised as MalformedFile."""
    try:
        packed = io.BufferedReader(_Watched(path, progress), READ_SIZE)
    except OSError as error:
        raise MalformedFile(path, error.strerror or "cannot be opened") from error
    with packed:
        try:
            yield gzip.GzipFile(fileobj=packed) if path.suffix == ".gz" else packed
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise MalformedFile(path, f"cannot be unpacked ({error})") from error


def read_json(path: Path, *, pairs_hook: Callable[[Any], Any] | None = None) -> Any:
    """A JSON file's content; raises MalformedFile. The hook is json's `object_pairs_hook`."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=pairs_hook)
    except OSError as error:
        raise MalformedFile(path, error.strerror or "cannot be opened") from error
    except UnicodeDecodeError as error:
        raise MalformedFile(path, NOT_UTF8) from error
    except json.JSONDecodeError as error:
        raise MalformedFile(path, f"no valid JSON: {error.msg}", error.lineno) from error
    except ValueError as error:
        raise MalformedFile(path, "a number has more digits than can be read") from error
    except RecursionError as error:
        raise MalformedFile(path, "nested too deeply") from error
