"""Many rows into one table, each database by its own fastest road.

A row that is there already, by the columns of a unique constraint, is brought up to date, and is
left alone if nothing differs. All of it belongs to the caller's transaction.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from django.db import IntegrityError, connection, models, transaction

CHUNK = 2_000
ROWS_AT_ONCE = 400
Rows = Callable[[], Iterator[tuple[Any, ...]]]


@dataclass(frozen=True)
class Counts:
    """What an import did with the entries it read."""

    read: int
    new: int
    changed: int
    skipped: int = 0

    @property
    def unchanged(self) -> int:
        return self.read - self.new - self.changed - self.skipped


@dataclass(frozen=True)
class Target:
    """A model's table, the fields that rows hold in order, and those that make a row unique.

    The kept ones are written with a new row, and stay as they are in one that is there.
    """

    model: type[models.Model]
    fields: Sequence[str]
    unique: Sequence[str]
    kept: Sequence[str] = ()

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    def columns(self, fields: Sequence[str]) -> list[str]:
        return [str(self.model._meta.get_field(name).column) for name in fields]  # type: ignore[union-attr]

    @property
    def on_conflict(self) -> str:
        """The clause that updates a row which differs, and no other."""
        unique = self.columns(self.unique)
        fixed = {*unique, *self.columns(self.kept)}
        rest = [column for column in self.columns(self.fields) if column not in fixed]
        if not rest:
            return f"ON CONFLICT ({', '.join(unique)}) DO NOTHING"
        different = "IS NOT" if connection.vendor == "sqlite" else "IS DISTINCT FROM"
        return (
            f"ON CONFLICT ({', '.join(unique)}) DO UPDATE SET "
            + ", ".join(f"{column} = excluded.{column}" for column in rest)
            + f" WHERE ({', '.join(f'{self.table}.{column}' for column in rest)}) {different} "
            + f"({', '.join(f'excluded.{column}' for column in rest)})"
        )


def load(target: Target, rows: Rows, *, into_new_ground: bool = False) -> tuple[int, int]:
    """Write the rows and return how many are new and how many changed.

    `rows` is called for each attempt. `into_new_ground` says that none of the rows is expected to
    be there and that nobody reads the table meanwhile, which PostgreSQL makes use of.
    """
    before = target.model._default_manager.count()
    if connection.vendor == "postgresql":
        touched = _postgresql(target, rows, into_new_ground)
    else:
        touched = _sqlite(target, rows)
    new = target.model._default_manager.count() - before
    return new, touched - new


def _sqlite(target: Target, rows: Rows) -> int:
    # Past Django's own cursor, which would copy each row once more to change its placeholders.
    with connection.cursor() as cursor:
        raw = cursor.connection.cursor()
    width = len(target.fields)
    at_once = min(ROWS_AT_ONCE, (connection.features.max_query_params or 999) // width)
    waiting = rows()
    rest: list[tuple[Any, ...]] = []

    def full_statements() -> Iterator[tuple[Any, ...]]:
        while (
            len(values := tuple(chain.from_iterable(islice(waiting, at_once)))) == at_once * width
        ):
            yield values
        rest.append(values)

    raw.executemany(_insert(target, at_once), full_statements())
    touched = max(raw.rowcount, 0)
    for values in filter(None, rest):
        touched += raw.execute(_insert(target, len(values) // width), values).rowcount
    return touched


def _insert(target: Target, rows: int) -> str:
    """A statement for so many rows at once: begun and ended once for all of them, it takes half
    the time."""
    columns = target.columns(target.fields)
    row = f"({', '.join('?' * len(columns))})"
    return (
        f"INSERT INTO {target.table} ({', '.join(columns)}) "
        f"VALUES {', '.join([row] * rows)} {target.on_conflict}"
    )


def _postgresql(target: Target, rows: Rows, into_new_ground: bool) -> int:
    if into_new_ground:
        try:
            with transaction.atomic(), keys_checked_at_the_end(target.table):
                return _copy(target, target.table, rows())
        except IntegrityError:
            # The file states a row twice: only the longer way round can tell which.
            pass
    return _copy_and_merge(target, rows)


def _copy_and_merge(target: Target, rows: Rows) -> int:
    columns = ", ".join(target.columns(target.fields))
    unique = ", ".join(target.columns(target.unique))
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS incoming")
        cursor.execute(
            f"CREATE TEMPORARY TABLE incoming ON COMMIT DROP AS "
            f"SELECT {columns} FROM {target.table} LIMIT 0"
        )
        _copy(target, "incoming", rows())
        # Of a row stated twice, the last one counts.
        cursor.execute(
            f"INSERT INTO {target.table} ({columns}) SELECT DISTINCT ON ({unique}) {columns} "
            f"FROM incoming ORDER BY {unique}, ctid DESC {target.on_conflict}"
        )
        touched = cursor.rowcount
        cursor.execute("DROP TABLE incoming")
        return touched


def _copy(target: Target, table: str, rows: Iterator[tuple[Any, ...]]) -> int:
    columns = ", ".join(target.columns(target.fields))
    # An empty field means NULL, except in text, which is never NULL here.
    texts = [
        column
        for name, column in zip(target.fields, target.columns(target.fields), strict=True)
        if isinstance(target.model._meta.get_field(name), models.CharField)
    ]
    options = f", FORCE_NOT_NULL ({', '.join(texts)})" if texts else ""
    stream = _CsvStream(rows)
    with connection.cursor() as cursor:
        try:
            with connection.wrap_database_errors:
                cursor.copy_expert(
                    f"COPY {table} ({columns}) FROM STDIN (FORMAT csv{options})", stream
                )
        except Exception as error:
            # psycopg2 puts its own error in the place of one that reading raised.
            raise stream.error or error from None
        return cursor.rowcount


class _CsvStream:
    """Rows as the file that COPY reads; keeps what went wrong in making them."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self.rows = rows
        self.error: Exception | None = None

    def read(self, size: int) -> str:
        """The next rows; psycopg2 takes more than it asked for."""
        out = io.StringIO()
        try:
            csv.writer(out, lineterminator="\n").writerows(islice(self.rows, CHUNK))
        except Exception as error:
            self.error = error
            raise
        return out.getvalue()


@contextmanager
def keys_checked_at_the_end(table: str) -> Iterator[None]:
    """Drop a PostgreSQL table's foreign and unique keys for the block and put them back, which
    checks all rows in one join and one sort; row by row that takes three times as long.

    If the block fails, the transaction it belongs to brings the keys back.
    """
    with connection.cursor() as cursor:
        # A table with checks still waiting cannot be altered.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute(
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE conrelid = %s::regclass AND contype IN ('f', 'u') ORDER BY conname",
            [table],
        )
        constraints = cursor.fetchall()
        for name, _ in constraints:
            cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        yield
        for name, definition in constraints:
            cursor.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')
