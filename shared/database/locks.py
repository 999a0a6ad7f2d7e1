"""Locks between processes, which end with the process that holds them."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from django.db import connection


@contextmanager
def process_lock(name: str, *, waits: bool = False) -> Iterator[bool]:
    """Hold the lock of this name during the block; yield False if another process holds it.

    With `waits`, wait for the other process instead. On PostgreSQL the lock belongs to the database
    connection, so it holds between machines; on SQLite to an open file in a folder next to the
    database. Both end with their process, so a killed one blocks nobody.
    """
    hold = _on_server if connection.vendor == "postgresql" else _on_machine
    with hold(name, waits) as is_held:
        yield is_held


def transaction_lock(name: str, *, is_shared: bool = False) -> None:
    """Hold the lock of this name until the transaction ends, after waiting for the others that do.

    Those who share it wait only for one who does not. On SQLite, writing transactions wait for each
    other anyway.
    """
    if connection.vendor == "postgresql":
        take = "pg_advisory_xact_lock_shared" if is_shared else "pg_advisory_xact_lock"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {take}(%s)", [lock_key(name)])


def lock_key(name: str) -> int:
    """The key of the lock of this name in PostgreSQL."""
    return int.from_bytes(sha256(name.encode()).digest()[:8], signed=True)


@contextmanager
def _on_server(name: str, waits: bool) -> Iterator[bool]:
    key = lock_key(name)
    take = "SELECT pg_advisory_lock(%s)" if waits else "SELECT pg_try_advisory_lock(%s)"
    with connection.cursor() as cursor:
        cursor.execute(take, [key])
        # The function that waits returns an empty value.
        is_held = cursor.fetchone()[0] is not False
    session = connection.connection
    try:
        yield is_held
    finally:
        # A lost connection has lost its lock, and a new one must not be opened for it.
        if is_held and session is connection.connection and connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


@contextmanager
def _on_machine(name: str, waits: bool) -> Iterator[bool]:
    handle = os.open(_file_of(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield _lock(handle, waits)
    finally:
        os.close(handle)


def _lock(handle: int, waits: bool) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _file_of(name: str) -> Path:
    database = str(connection.settings_dict["NAME"])
    if ":memory:" in database or "mode=memory" in database:
        digest = sha256(database.encode()).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"{digest}-{os.getpid()}.{name}.lock"
    folder = Path(f"{database}.locks")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / f"{name}.lock"
