"""Streams of rows for PostgreSQL's COPY, produced while COPY reads them."""

import csv
import io
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np

CHUNK = 2_000
# Columns of a block of rows: integers, floats, and int8 for flags, where -1 means NULL.
Columns = Sequence[np.ndarray]

# https://www.postgresql.org/docs/current/sql-copy.html describes the binary format.
BINARY_START = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
BINARY_END = struct.pack(">h", -1)
NULL_LENGTH = -1


class CopyStream(Protocol):
    """A file-like object for COPY, with its format; `error` is the exception that `read` raised."""

    form: str
    error: Exception | None

    def read(self, _size: int) -> str | bytes:
        """Return the next chunk, empty at the end. psycopg2 accepts more than `_size`."""


class CsvStream:
    """Rows of any values as CSV. An empty field is NULL, except in the columns named by `texts`."""

    def __init__(self, rows: Iterator[tuple[Any, ...]], texts: Sequence[str]) -> None:
        self.rows = rows
        self.error: Exception | None = None
        self.form = "FORMAT csv" + (f", FORCE_NOT_NULL ({', '.join(texts)})" if texts else "")

    def read(self, _size: int) -> str:
        out = io.StringIO()
        try:
            csv.writer(out, lineterminator="\n").writerows(islice(self.rows, CHUNK))
        except Exception as error:
            self.error = error
            raise
        return out.getvalue()


class BinaryStream:
    """Columns of numbers in COPY's binary format, which needs no conversion to text."""

    form = "FORMAT binary"

    def __init__(self, blocks: Iterator[Columns]) -> None:
        self.parts = self._parts(blocks)
        self.error: Exception | None = None

    def read(self, _size: int) -> bytes:
        try:
            return next(self.parts, b"")
        except Exception as error:
            self.error = error
            raise

    def _parts(self, blocks: Iterator[Columns]) -> Iterator[bytes]:
        yield BINARY_START
        for columns in blocks:
            # COPY takes an empty chunk as the end of the stream.
            if len(columns[0]):
                yield binary_rows(columns)
        yield BINARY_END


def binary_rows(columns: Columns) -> bytes:
    """The rows in COPY's binary format: the number of fields, then the length and value of each."""
    layout = [("fields", ">i2")]
    for place, column in enumerate(columns):
        kind = column.dtype.newbyteorder(">")
        layout += [(f"length {place}", ">i4"), (f"value {place}", kind.str)]
    rows = np.empty(len(columns[0]), np.dtype(layout))
    rows["fields"] = len(columns)
    for place, column in enumerate(columns):
        rows[f"length {place}"] = column.dtype.itemsize
        rows[f"value {place}"] = column
    return _without_nulls(rows, columns)


def _without_nulls(rows: np.ndarray, columns: Columns) -> bytes:
    """The bytes of the rows. A NULL field has the length -1 and no value."""
    kept = None
    fields: Mapping[str, Any] = rows.dtype.fields or {}
    for place, column in enumerate(columns):
        if column.dtype == np.int8 and (is_null := column < 0).any():
            if kept is None:
                kept = np.ones((len(rows), rows.dtype.itemsize), bool)
            rows[f"length {place}"][is_null] = NULL_LENGTH
            kept[is_null, fields[f"value {place}"][1]] = False
    if kept is None:
        return rows.tobytes()
    return rows.view(np.uint8).reshape(kept.shape)[kept].tobytes()


def tuples(columns: Columns) -> Iterator[tuple[Any, ...]]:
    """The rows one by one, for a database without COPY."""
    return zip(*map(_values, columns), strict=True)


def _values(column: np.ndarray) -> list[Any]:
    values: list[Any] = column.tolist()
    if column.dtype == np.int8 and (column < 0).any():
        return [None if value < 0 else value for value in values]
    return values
