"""Write many rows into one table with the fastest method of each database.

A row that exists already, judged by the fields of a unique constraint, is updated if it differs and
is left alone otherwise. All writes belong to the caller's transaction.
"""

import csv
import io
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import numpy as np
from django.db import IntegrityError, OperationalError, connection, models, transaction

from corpora.wording import counted
from shared.database.locks import transaction_lock
from shared.database.transactions import batches

CHUNK = 2_000
# Columns of a block of rows: integers, floats, and int8 for flags, where -1 means NULL.
Columns = Sequence[np.ndarray]

# https://www.postgresql.org/docs/current/sql-copy.html describes the binary format.
BINARY_START = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
BINARY_END = struct.pack(">h", -1)
NULL_LENGTH = -1


class CopyStream:
    """A file-like object for COPY: a format, and chunks, which are produced while COPY reads them.

    `error` is the exception that producing them raised.
    """

    def __init__(self, form: str, chunks: Iterator[str | bytes]) -> None:
        self.form, self.chunks = form, chunks
        self.error: Exception | None = None

    def read(self, _size: int) -> str | bytes:
        """Return the next chunk, empty at the end. psycopg2 accepts more than `_size`."""
        try:
            return next(self.chunks, "")
        except Exception as error:
            self.error = error
            raise


def csv_stream(rows: Iterator[tuple[Any, ...]], texts: Sequence[str]) -> CopyStream:
    """Rows of any values as CSV. An empty field is NULL, except in the columns named by `texts`."""
    form = "FORMAT csv" + (f", FORCE_NOT_NULL ({', '.join(texts)})" if texts else "")
    return CopyStream(form, _csv_chunks(rows))


def _csv_chunks(rows: Iterator[tuple[Any, ...]]) -> Iterator[str]:
    for batch in batches(rows, CHUNK):
        out = io.StringIO()
        # Of line ends, it quotes only those that its own consists of: CR LF, so both.
        csv.writer(out).writerows(batch)
        yield out.getvalue()


def binary_stream(blocks: Iterator[Columns]) -> CopyStream:
    """Columns of numbers in COPY's binary format, which needs no conversion to text."""
    return CopyStream("FORMAT binary", _binary_chunks(blocks))


def _binary_chunks(blocks: Iterator[Columns]) -> Iterator[bytes]:
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


ROWS_AT_ONCE = 400
Rows = Callable[[], Iterator[tuple[Any, ...]]]
# The name of their lock.
IMPORTS = "imports"
# PostgreSQL looks for deadlocks after one second. Waiting for less makes the import, and never the
# other transaction, give up its locks.
LOCK_MILLISECONDS = 500


@dataclass(frozen=True)
class Counts:
    """Number of entries that an import read, and how many of them were new, changed or skipped."""

    read: int
    new: int
    changed: int
    skipped: int = 0

    @property
    def unchanged(self) -> int:
        return self.read - self.new - self.changed - self.skipped

    def in_words(self, one: str, many: str = "") -> str:
        """A sentence for logs and commands; `one` and `many` name the entries."""
        skipped = f", {self.skipped:,} of unknown images skipped" if self.skipped else ""
        return (
            f"{counted(self.read, one, many)} read: {self.new:,} new, {self.changed:,} changed, "
            f"{self.unchanged:,} unchanged{skipped}."
        )


@dataclass(frozen=True)
class Target:
    """A model, its fields in the order of a row's values, and the fields that identify a row.

    The `kept` fields are written with a new row and are not changed in an existing one. With a
    `condition`, a column's name and a test, the fields identify a row among those that meet it.
    """

    model: type[models.Model]
    fields: Sequence[str]
    unique: Sequence[str]
    kept: Sequence[str] = ()
    condition: str = ""

    def owned_by(self, team: models.Model | None) -> "Target":
        """The target among the rows of the team, or among those that all teams share.

        The first value of each row is the team's primary key, or None.
        """
        return replace(
            self,
            fields=["team", *self.fields],
            unique=["team", *self.unique] if team else self.unique,
            kept=["team", *self.kept],
            condition="team_id IS NOT NULL" if team else "team_id IS NULL",
        )

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    def columns(self, fields: Sequence[str]) -> list[str]:
        return [str(self.model._meta.get_field(name).column) for name in fields]  # type: ignore[union-attr]

    @property
    def texts(self) -> list[str]:
        fields = (name for name in self.fields if self.is_text(name))
        return self.columns(list(fields))

    def is_text(self, name: str) -> bool:
        return isinstance(self.model._meta.get_field(name), models.CharField)

    @property
    def rest(self) -> list[str]:
        """Columns that are updated in an existing row."""
        fixed = {*self.columns(self.unique), *self.columns(self.kept)}
        return [column for column in self.columns(self.fields) if column not in fixed]

    @property
    def on_conflict(self) -> str:
        """SQL clause that updates an existing row, but only if it differs."""
        others, where = self.rest, f" WHERE {self.condition}" if self.condition else ""
        conflict = f"ON CONFLICT ({', '.join(self.columns(self.unique))}){where}"
        if not others:
            return f"{conflict} DO NOTHING"
        different = "IS NOT" if connection.vendor == "sqlite" else "IS DISTINCT FROM"
        return (
            f"{conflict} DO UPDATE SET "
            + ", ".join(f"{column} = excluded.{column}" for column in others)
            + f" WHERE ({', '.join(f'{self.table}.{column}' for column in others)}) {different} "
            + f"({', '.join(f'excluded.{column}' for column in others)})"
        )


def take_turns() -> None:
    """Wait until no other import runs; later imports wait until this transaction ends.

    Imports therefore cannot deadlock with each other, and rows that one has read are not changed by
    another. SQLite allows only one writing transaction anyway.
    """
    transaction_lock(IMPORTS)


def wait_for_imports() -> None:
    """Wait until no import runs; imports wait until this transaction ends, and other callers of
    this function do not."""
    transaction_lock(IMPORTS, is_shared=True)


def load(target: Target, rows: Rows) -> tuple[int, int]:
    """Write the rows; return the numbers of new and of changed ones.

    `rows` is called once per attempt and must give the same rows each time.
    """
    if connection.vendor == "postgresql":
        return _merge(target, csv_stream(rows(), target.texts))
    return _sqlite(target, rows())


def load_columns(
    target: Target, blocks: Callable[[], Iterator[Columns]], *, only_new: bool
) -> tuple[int, int]:
    """Write rows that come as blocks of columns; return the same numbers as `load`.

    With `only_new`, PostgreSQL uses a faster method that assumes that no row exists yet and locks
    the table against readers. If a row exists or the table is in use, the normal method is used.
    """
    if connection.vendor != "postgresql":
        return _sqlite(target, chain.from_iterable(map(tuples, blocks())))
    if only_new:
        try:
            with transaction.atomic(), keys_checked_at_the_end(target.table):
                return _copy(target, target.table, binary_stream(blocks())), 0
        except (IntegrityError, OperationalError):
            # Either the file has a row twice, and only `_merge` can resolve that, or another
            # transaction uses the table, and `_merge` does not need to wait for it.
            pass
    return _merge(target, binary_stream(blocks()))


def _sqlite(target: Target, rows: Iterator[tuple[Any, ...]]) -> tuple[int, int]:
    before = target.model._default_manager.count()
    # Django's own cursor would copy each row to convert its placeholders.
    with connection.cursor() as cursor:
        raw = cursor.connection.cursor()
    width = len(target.fields)
    at_once = min(ROWS_AT_ONCE, (connection.features.max_query_params or 999) // width)
    incomplete: list[tuple[Any, ...]] = []

    def full_statements() -> Iterator[tuple[Any, ...]]:
        while len(values := tuple(chain.from_iterable(islice(rows, at_once)))) == at_once * width:
            yield values
        incomplete.append(values)

    raw.executemany(_insert(target, at_once), full_statements())
    touched = max(raw.rowcount, 0)
    for values in filter(None, incomplete):
        touched += raw.execute(_insert(target, len(values) // width), values).rowcount
    new = target.model._default_manager.count() - before
    return new, touched - new


def _insert(target: Target, rows: int) -> str:
    """SQL that inserts this number of rows.

    One statement per ROWS_AT_ONCE rows takes half the time of one statement per row.
    """
    columns = target.columns(target.fields)
    row = f"({', '.join('?' * len(columns))})"
    return (
        f"INSERT INTO {target.table} ({', '.join(columns)}) "
        f"VALUES {', '.join([row] * rows)} {target.on_conflict}"
    )


def _merge(target: Target, stream: CopyStream) -> tuple[int, int]:
    columns = ", ".join(target.columns(target.fields))
    unique = ", ".join(target.columns(target.unique))
    same = " AND ".join(f"old.{name} = new.{name}" for name in target.columns(target.unique))
    if target.condition:
        same += f" AND old.{target.condition}"
    # Unchanged rows are filtered out here. ON CONFLICT alone would lock them, which writes to disk.
    unchanged = f"SELECT FROM {target.table} old WHERE {same}" + "".join(
        f" AND old.{name} IS NOT DISTINCT FROM new.{name}" for name in target.rest
    )
    before = target.model._default_manager.count()
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS incoming")
        cursor.execute(
            f"CREATE TEMPORARY TABLE incoming ON COMMIT DROP AS "
            f"SELECT {columns} FROM {target.table} LIMIT 0"
        )
        _copy(target, "incoming", stream)
        # If the file has a row twice, the last one wins.
        cursor.execute(
            f"INSERT INTO {target.table} ({columns}) SELECT {columns} FROM ("
            f"SELECT DISTINCT ON ({unique}) {columns} FROM incoming ORDER BY {unique}, ctid DESC"
            f") new WHERE NOT EXISTS ({unchanged}) {target.on_conflict}"
        )
        touched = cursor.rowcount
        cursor.execute("DROP TABLE incoming")
    new = target.model._default_manager.count() - before
    return new, touched - new


def _copy(target: Target, table: str, stream: CopyStream) -> int:
    columns = ", ".join(target.columns(target.fields))
    with connection.cursor() as cursor:
        try:
            with connection.wrap_database_errors:
                cursor.copy_expert(f"COPY {table} ({columns}) FROM STDIN ({stream.form})", stream)
        except Exception as error:
            # psycopg2 replaces an error raised by `read` with its own. Raise the original.
            raise stream.error or error from None
        return int(cursor.rowcount)


@contextmanager
def keys_checked_at_the_end(table: str) -> Iterator[None]:
    """Drop a PostgreSQL table's keys for the block, then add them again and check all rows at once.

    Checking the keys row by row takes four times as long. The table and the tables it refers to are
    locked against readers meanwhile; raises OperationalError if others use them. If the block
    fails, rolling back the transaction restores the keys.
    """
    with connection.cursor() as cursor:
        # PostgreSQL refuses to alter a table that has deferred checks pending. Run them first.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
        # The primary key comes first. It stays if other tables refer to it.
        cursor.execute(
            "SELECT conname, pg_get_constraintdef(oid), confrelid::regclass::text, contype = 'f' "
            "FROM pg_constraint own WHERE conrelid = %s::regclass AND (contype IN ('f', 'u') "
            "OR contype = 'p' AND NOT EXISTS "
            "(SELECT FROM pg_constraint other WHERE other.confrelid = own.conrelid)) "
            "ORDER BY contype = 'p' DESC, conname",
            [table],
        )
        keys = cursor.fetchall()
        tables = dict.fromkeys(
            [table, *(referring for _, _, referring, is_foreign in keys if is_foreign)]
        )
        # ALTER TABLE would lock them one at a time, for as long as it takes. A reader that locks
        # them in another order would then cause a deadlock.
        cursor.execute(
            f"SET LOCAL lock_timeout = {LOCK_MILLISECONDS}; "
            f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE; "
            "SET LOCAL lock_timeout TO DEFAULT"
        )
        drops = ", ".join(f'DROP CONSTRAINT "{name}"' for name, *_ in keys)
        cursor.execute(f"ALTER TABLE {table} {drops}")
        yield
        adds = ", ".join(f'ADD CONSTRAINT "{name}" {rule}' for name, rule, *_ in keys)
        # With a few hundred thousand rows, starting parallel workers takes longer than they save.
        cursor.execute(
            f"SET LOCAL max_parallel_maintenance_workers = 0; ALTER TABLE {table} {adds}"
        )
