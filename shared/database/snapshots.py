"""Read several tables in one snapshot while other transactions change them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TypeVar

from django.db import OperationalError, connection, transaction

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
