"""Read several tables in one snapshot while other transactions change them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import OperationalError, connection, transaction

T = TypeVar("T")

# Conflicts are rare, and each attempt reads all data again.
ATTEMPTS = 4
# PostgreSQL's codes for a serialization failure and for a deadlock.
CONFLICTS = {"40001", "40P01"}


class SnapshotConflict(Exception):
    """Every attempt failed, because other transactions changed rows that it had read."""


def in_one_snapshot(make: Callable[[], T]) -> T:
    """Call `make` in one transaction with one snapshot of the database, and return its result.

    `make` may be called several times, so it must have no effects outside the database. Raises
    SnapshotConflict if every attempt conflicts, and RuntimeError inside another transaction, whose
    earlier statements would have used a different snapshot.
    """
    for _ in range(ATTEMPTS):
        try:
            with _snapshot():
                return make()
        except OperationalError as error:
            if getattr(error.__cause__, "pgcode", None) not in CONFLICTS:
                raise
            conflict = error
    raise SnapshotConflict from conflict


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
