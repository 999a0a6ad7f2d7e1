"""Reading many things as they were at one moment, while others change them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import OperationalError, connection, transaction

T = TypeVar("T")

# A conflict is rare, and each attempt reads everything anew.
ATTEMPTS = 4
# PostgreSQL's codes for a serialization failure and for a deadlock.
CONFLICTS = {"40001", "40P01"}


class SnapshotConflict(Exception):
    """Others changed rows that each attempt had read and then referred to."""


def in_one_snapshot(make: Callable[[], T]) -> T:
    """What `make` returns. Everything it reads is as it was at one moment, and what it writes is
    saved as a whole. It may be called several times, so it must change nothing but the database.

    Raises SnapshotConflict, and RuntimeError within another transaction, whose earlier statements
    would have a snapshot of their own.
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
        # SQLite's transactions are IMMEDIATE: nobody else writes until they end. Where there is a
        # savepoint, this is the transaction that Django's TestCase puts around a test: `durable`
        # refuses all others, and an isolation level can no longer be chosen in it.
        if connection.vendor == "postgresql" and not connection.savepoint_ids:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield
