"""Django's `migrate`, run by one process at a time for each database.

Every marketplace command migrates the database first, so several may start at the same time.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from django.core.files import locks
from django.core.management.commands import migrate
from django.db import DatabaseError, connections

# Key of the advisory lock; any constant that no other program uses in this database.
LOCK = 7_112_017


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        with _alone(options["database"]):
            super().handle(*args, **options)


def _alone(alias: str) -> AbstractContextManager[None]:
    """A context manager that waits until no other process migrates the database."""
    connection = connections[alias]
    if connection.vendor == "postgresql":
        return _with_advisory_lock(connection)
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite" and ":" not in name:
        return _with_lock_file(Path(name))
    return nullcontext()


@contextmanager
def _with_advisory_lock(connection: Any) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
    try:
        yield
    finally:
        # A broken connection has released its locks already.
        with suppress(DatabaseError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


@contextmanager
def _with_lock_file(database: Path) -> Iterator[None]:
    database.parent.mkdir(parents=True, exist_ok=True)
    # A separate file, because SQLite's own locks end with each of the migrations' transactions.
    with database.with_name(f"{database.name}.migrating").open("w") as file:
        locks.lock(file, locks.LOCK_EX)
        yield
