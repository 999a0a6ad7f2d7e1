"""Transactions: of several services, in one snapshot; and batches of many rows."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from django.db import OperationalError, connection, models, transaction

_waiting: ContextVar[list[Callable[[], object]] | None] = ContextVar("waiting", default=None)


def afterwards(act: Callable[[], object]) -> None:
    """Run `act` now, or at the end of `one_transaction`."""
    waiting = _waiting.get()
    if waiting is None:
        act()
    else:
        waiting.append(act)


@contextmanager
def one_transaction() -> Iterator[None]:
    """A transaction, and then what was put off until its end. Nothing of that runs if the
    transaction fails."""
    waiting: list[Callable[[], object]] = []
    token = _waiting.set(waiting)
    try:
        with transaction.atomic():
            yield
    finally:
        _waiting.reset(token)
    for act in waiting:
        act()


T = TypeVar("T")

# Conflicts are rare, and each attempt reads all data again.
ATTEMPTS = 4
# PostgreSQL's codes for a serialization failure and for a deadlock.
CONFLICTS = {"40001", "40P01"}


class SnapshotConflict(Exception):
    """Every attempt failed, because other transactions changed rows that it had read."""


def in_one_snapshot(make: Callable[[datetime | None], T]) -> T:
    """Call `make` in one transaction with one snapshot of the database, and return its result.

    Its argument is the time before which the snapshot is complete: when the earliest of the other
    transactions began that were writing, because the snapshot does not have what they write. None
    if there were none.

    `make` may be called several times, so it must have no effects outside the database. Raises
    SnapshotConflict if every attempt conflicts, and RuntimeError inside another transaction, whose
    earlier statements would have used a different snapshot.
    """
    for _ in range(ATTEMPTS):
        try:
            began = _earliest_writer()
            with _snapshot():
                return make(began)
        except OperationalError as error:
            if getattr(error.__cause__, "pgcode", None) not in CONFLICTS:
                raise
            conflict = error
    raise SnapshotConflict from conflict


def _earliest_writer() -> datetime | None:
    # SQLite's transactions are IMMEDIATE, so no other one is writing while this one is. Inside a
    # transaction, in_one_snapshot refuses to begin, except in Django's TestCase.
    if connection.vendor != "postgresql" or connection.in_atomic_block:
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT min(xact_start) FROM pg_stat_activity WHERE datname = current_database() "
            "AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()"
        )
        began: datetime | None = cursor.fetchone()[0]
    return began


@contextmanager
def _snapshot() -> Iterator[None]:
    with transaction.atomic(durable=True):
        # SQLite's transactions are IMMEDIATE, so other writers wait until they end. If there is a
        # savepoint, Django's TestCase has wrapped the test in a transaction (`durable` refuses all
        # others), and the isolation level can no longer be set.
        if connection.vendor == "postgresql" and not connection.savepoint_ids:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield


# Maximum number of rows in one statement and in memory.
BATCH = 1000
Row = TypeVar("Row")


def batches(rows: Iterable[Row], size: int | None = None) -> Iterator[list[Row]]:
    """The rows in their order, in lists of BATCH, or of another size."""
    left, size = iter(rows), size or BATCH
    while batch := list(islice(left, size)):
        yield batch


def create_in_batches(model: type[models.Model], rows: Iterable[Any]) -> None:
    """Create the rows, holding at most BATCH of them in memory."""
    for batch in batches(rows):
        model._default_manager.bulk_create(batch)


def delete_in_batches(rows: models.QuerySet[Any], *, size: int = BATCH) -> int:
    """Delete the rows, lowest key first; return their number.

    Each batch is one transaction, so other writers never wait for the whole deletion.
    """
    deleted = 0
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:size]):
        rows.model._base_manager.filter(pk__in=keys).delete()
        deleted += len(keys)
    return deleted
