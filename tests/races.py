"""Deterministic races: an action runs at a known moment of another one.

`at_once` in `tests.threads` starts actions together in a random order; here the order is fixed.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import Any

from django.db import connection, connections, transaction

from tests.servers import PATIENCE

Act = Callable[[], Any]
# SQL that a transaction sends to take its first lock. SQLite locks the database, PostgreSQL rows.
LOCKS = {"sqlite": "BEGIN", "postgresql": "FOR NO KEY UPDATE"}


@contextmanager
def just_before(statement: str, act: Act, *, nth: int = 1) -> Iterator[None]:
    """Run the action in another connection before a statement that contains the text is sent.

    Before the first such statement, or the nth. Fails if it is not sent.
    """
    occurrence = count(1)
    with _before(lambda number, sql: statement in sql and next(occurrence) == nth, act) as done:
        yield
    assert done, f"{statement!r} was sent fewer than {nth} times"


def just_before_lock(act: Act) -> Any:
    """Run the action in another connection before this one takes its first lock."""
    return just_before(LOCKS[connection.vendor], act)


@contextmanager
def just_before_number(number: int, act: Act) -> Iterator[list[Any]]:
    """Run the action in another connection before this one sends statement `number`, from 0.

    The returned list stays empty if there are fewer statements.
    """
    with _before(lambda n, sql: n == number, act) as done:
        yield done


@contextmanager
def _before(is_moment: Callable[[int, str], bool], act: Act) -> Iterator[list[Any]]:
    started: list[Future[Any]] = []
    sent = 0

    def watch(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        nonlocal sent
        number, sent = sent, sent + 1
        if not started and is_moment(number, sql):
            started.append(pool.submit(in_own_connection, act))
            # On SQLite, the action cannot run until the current transaction has ended.
            if connection.vendor != "sqlite" or not connection.in_atomic_block:
                started[0].result(PATIENCE)
        return execute(sql, *arguments)

    with ThreadPoolExecutor(1) as pool, connection.execute_wrapper(watch):
        yield started
    for act_ in started:
        act_.result(PATIENCE)


def in_own_connection(act: Act) -> Any:
    try:
        return act()
    finally:
        connections.close_all()


def while_open(rival: Act, act: Act, *, meanwhile: Act = lambda: None) -> Any:
    """Run `rival` in a transaction that stays open until `act`, in another connection, waits for
    its locks or has ended; return the result of `act`.

    `meanwhile` runs in the rival's transaction while `act` waits. For PostgreSQL: SQLite runs
    writing transactions one by one.
    """
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            rival()
            later = pool.submit(in_own_connection, act)
            while not (later.done() or _somebody_waits_for_us()):
                time.sleep(0.01)
            meanwhile()
        return later.result(PATIENCE)


def _somebody_waits_for_us() -> bool:
    """Whether another transaction waits for a lock of this one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks "
            "WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
        )
        return bool(cursor.fetchone()[0])


def until_it_waits(later: Future[Any], *, number: int = 1) -> None:
    """Return when so many transactions wait for locks, or the action has ended."""
    while not (later.done() or somebody_waits_for_a_lock(at_least=number)):
        time.sleep(0.01)


def somebody_waits_for_a_lock(*, at_least: int = 1) -> bool:
    with connection.cursor() as cursor:
        # A transaction sees the activity of its first look, unless it asks anew.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        return bool(cursor.fetchone()[0] >= at_least)
