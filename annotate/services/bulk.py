"""Many rows into one table, each database by its own fastest road.

A row that is there already, by the columns of a unique constraint, is brought up to date, and is
left alone if nothing differs. All of it belongs to the caller's transaction.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from django.db import IntegrityError, OperationalError, connection, models, transaction

from annotate.services.copy_streams import BinaryStream, Columns, CopyStream, CsvStream, tuples

ROWS_AT_ONCE = 400
Rows = Callable[[], Iterator[tuple[Any, ...]]]
# Of advisory locks; any number that is always the same.
IMPORT_LOCK = 20_190_826
# Less than the time after which PostgreSQL looks for deadlocks (a second), so that of two who wait
# for each other it is always the import that lets go.
LOCK_MILLISECONDS = 500
LOCK_ATTEMPTS = 3
LOCK_NOT_AVAILABLE = "55P03"


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
    def texts(self) -> list[str]:
        fields = (name for name in self.fields if self.is_text(name))
        return self.columns(list(fields))

    def is_text(self, name: str) -> bool:
        return isinstance(self.model._meta.get_field(name), models.CharField)

    @property
    def rest(self) -> list[str]:
        """The columns that an entry's later version changes."""
        fixed = {*self.columns(self.unique), *self.columns(self.kept)}
        return [column for column in self.columns(self.fields) if column not in fixed]

    @property
    def on_conflict(self) -> str:
        """The clause that updates a row which differs, and no other."""
        unique, rest = self.columns(self.unique), self.rest
        if not rest:
            return f"ON CONFLICT ({', '.join(unique)}) DO NOTHING"
        different = "IS NOT" if connection.vendor == "sqlite" else "IS DISTINCT FROM"
        return (
            f"ON CONFLICT ({', '.join(unique)}) DO UPDATE SET "
            + ", ".join(f"{column} = excluded.{column}" for column in rest)
            + f" WHERE ({', '.join(f'{self.table}.{column}' for column in rest)}) {different} "
            + f"({', '.join(f'excluded.{column}' for column in rest)})"
        )


def take_turns() -> None:
    """Wait until no other import runs, and keep others waiting to the end of the transaction.

    So they cannot wait for each other's tables and rows in a circle, and what one has looked up
    stays true. SQLite's transactions take turns by themselves.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [IMPORT_LOCK])


def load(target: Target, rows: Rows) -> tuple[int, int]:
    """Write the rows and return how many are new and how many changed.

    `rows` is called for each attempt.
    """
    if connection.vendor == "postgresql":
        return _merge(target, CsvStream(rows(), target.texts))
    return _sqlite(target, rows())


def load_columns(
    target: Target, blocks: Callable[[], Iterator[Columns]], *, into_new_ground: bool = False
) -> tuple[int, int]:
    """Write rows that come as blocks of columns; otherwise as `load`.

    `into_new_ground` says that none of the rows is expected to be there and that the tables may be
    closed to readers meanwhile, which PostgreSQL makes use of.
    """
    if connection.vendor != "postgresql":
        return _sqlite(target, chain.from_iterable(map(tuples, blocks())))
    if into_new_ground:
        try:
            with transaction.atomic(), keys_checked_at_the_end(target.table):
                return _copy(target, target.table, BinaryStream(blocks())), 0
        except (IntegrityError, TableInUse):
            # The file states a row twice, and only the longer way round can tell which; or
            # somebody is reading, and that way need not wait for them.
            pass
    return _merge(target, BinaryStream(blocks()))


def _sqlite(target: Target, rows: Iterator[tuple[Any, ...]]) -> tuple[int, int]:
    before = target.model._default_manager.count()
    # Past Django's own cursor, which would copy each row once more to change its placeholders.
    with connection.cursor() as cursor:
        raw = cursor.connection.cursor()
    width = len(target.fields)
    at_once = min(ROWS_AT_ONCE, (connection.features.max_query_params or 999) // width)
    rest: list[tuple[Any, ...]] = []

    def full_statements() -> Iterator[tuple[Any, ...]]:
        while len(values := tuple(chain.from_iterable(islice(rows, at_once)))) == at_once * width:
            yield values
        rest.append(values)

    raw.executemany(_insert(target, at_once), full_statements())
    touched = max(raw.rowcount, 0)
    for values in filter(None, rest):
        touched += raw.execute(_insert(target, len(values) // width), values).rowcount
    new = target.model._default_manager.count() - before
    return new, touched - new


def _insert(target: Target, rows: int) -> str:
    """A statement for so many rows at once: begun and ended once for all of them, it takes half
    the time."""
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
    # Not even locked, as ON CONFLICT alone would do, which writes to a row's page.
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
        # Of a row stated twice, the last one counts.
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
            # psycopg2 puts its own error in the place of one that reading raised.
            raise stream.error or error from None
        return int(cursor.rowcount)


class TableInUse(Exception):
    """Others work with the table, so that it cannot be closed to them now."""


@contextmanager
def keys_checked_at_the_end(table: str) -> Iterator[None]:
    """Drop a PostgreSQL table's keys for the block and put them back, which checks all rows in a
    join and a sort for each; row by row that takes four times as long.

    The table and those it refers to are closed to readers meanwhile; raises TableInUse if others
    keep at work there. If the block fails, the transaction it belongs to brings the keys back.
    """
    with connection.cursor() as cursor:
        # A table with checks still waiting cannot be altered.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
        # The primary key first, and it stays if other tables refer to it.
        cursor.execute(
            "SELECT conname, pg_get_constraintdef(oid), confrelid::regclass::text, contype = 'f' "
            "FROM pg_constraint own WHERE conrelid = %s::regclass AND (contype IN ('f', 'u') "
            "OR contype = 'p' AND NOT EXISTS "
            "(SELECT FROM pg_constraint other WHERE other.confrelid = own.conrelid)) "
            "ORDER BY contype = 'p' DESC, conname",
            [table],
        )
        keys = cursor.fetchall()
        _close(cursor, [table, *(other for _, _, other, is_foreign in keys if is_foreign)])
        drops = ", ".join(f'DROP CONSTRAINT "{name}"' for name, *_ in keys)
        cursor.execute(f"ALTER TABLE {table} {drops}")
        yield
        adds = ", ".join(f'ADD CONSTRAINT "{name}" {rule}' for name, rule, *_ in keys)
        # Helpers in making an index of a few hundred thousand rows start slower than they help.
        cursor.execute(
            f"SET LOCAL max_parallel_maintenance_workers = 0; ALTER TABLE {table} {adds}"
        )


def _close(cursor: Any, tables: Sequence[str]) -> None:
    """Keep everybody else from the tables to the end of the transaction; raises TableInUse.

    Altering them would do so as well, but table by table with no end to its waiting: a reader who
    takes them in another order would wait in turn for us.
    """
    cursor.execute("SELECT current_setting('lock_timeout')")
    (usual,) = cursor.fetchone()
    names = ", ".join(dict.fromkeys(tables))
    for _ in range(LOCK_ATTEMPTS):
        try:
            with transaction.atomic():
                cursor.execute(
                    f"SET LOCAL lock_timeout = {LOCK_MILLISECONDS}; "
                    f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE; "
                    f"SET LOCAL lock_timeout = '{usual}'"
                )
            return
        except OperationalError as error:
            if getattr(error.__cause__, "pgcode", None) != LOCK_NOT_AVAILABLE:
                raise
    raise TableInUse
