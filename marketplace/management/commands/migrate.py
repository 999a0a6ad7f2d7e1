"""Django's `migrate`, one at a time for each database.

Every marketplace command brings the database up to date first, so several may begin together.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from django.core.files import locks
from django.core.management.commands import migrate
from django.db import DatabaseError, connections

# Any number that no other program takes in a marketplace's database.
LOCK = 7_112_017


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        with _alone(options["database"]):
            super().handle(*args, **options)


def _alone(alias: str) -> AbstractContextManager[None]:
    """Wait until no other process migrates the database, and keep others waiting."""
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
        # A connection that was lost has lost its locks as well.
        with suppress(DatabaseError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


@contextmanager
def _with_lock_file(database: Path) -> Iterator[None]:
    database.parent.mkdir(parents=True, exist_ok=True)
    # Beside the database, since SQLite's own locks end with each of migrate's transactions.
    with database.with_name(f"{database.name}.migrating").open("w") as file:
        locks.lock(file, locks.LOCK_EX)
        yield
