"""Run actions concurrently, each in a thread with its own database connection."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event
from typing import Any

from django.db import connection, connections

from shared.database.locks import process_lock
from tests.servers import PATIENCE


def threads_that_fit(most: int) -> int:
    """One thread per item, limited by the server's connections, which parallel tests share.

    On SQLite one transaction writes at a time. The more threads wait for it, the longer each waits.
    """
    if connection.vendor != "postgresql":
        return min(most, 10)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('max_connections')::int - count(*) FROM pg_stat_activity"
        )
        free = cursor.fetchone()[0] - 20
    return min(most, max(2, free // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))))


@contextmanager
def locked_elsewhere(name: str) -> Iterator[None]:
    """Context in which another thread, with its own database connection, holds a process lock."""
    held, ended = Event(), Event()

    def hold() -> None:
        try:
            with process_lock(name) as is_held:
                assert is_held
                held.set()
                ended.wait(PATIENCE)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(hold)
        assert held.wait(PATIENCE)
        try:
            yield
        finally:
            ended.set()
            holding.result(PATIENCE)


def at_once(action: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """Run the action on every item in threads that start together; return the results in order.

    Exceptions are raised here.
    """
    items = list(items)
    size = threads_that_fit(len(items))
    start = Barrier(size)

    def begin() -> None:
        start.wait(PATIENCE)

    def act(item: Any) -> Any:
        try:
            return action(item)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(size, initializer=begin) as pool:
        return list(pool.map(act, items))
