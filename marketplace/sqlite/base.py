"""SQLite with writers that take turns.

SQLite lets one connection write at a time. A connection that finds the database locked sleeps up to
a tenth of a second and tries again, and a connection that arrives meanwhile gets the lock first.
Under load, a writer can lose that race for many seconds. The marketplace writes from the threads of
one process, so its threads queue here before they ask SQLite. Other processes still wait as SQLite
does.
"""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base


class Turns:
    """Like `threading.Lock`, but first come, first served.

    A released lock goes directly to the thread that has waited longest, so the wait is limited by
    the number of threads ahead.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._is_taken = False
        self._waiting: deque[threading.Event] = deque()

    def take(self, timeout: float) -> bool:
        """Wait for the lock; return whether it came within `timeout` seconds."""
        with self._guard:
            if not self._is_taken:
                self._is_taken = True
                return True
            mine = threading.Event()
            self._waiting.append(mine)
        if mine.wait(timeout):
            return True
        with self._guard:
            if mine.is_set():
                # The lock was handed over just after the timeout.
                return True
            self._waiting.remove(mine)
            return False

    def give_up(self) -> None:
        """Release the lock, or hand it to the next thread."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._is_taken = False


_guard = threading.Lock()
_turns: dict[str, Turns] = {}


def turns_at(database: str) -> Turns:
    """This process's lock for the database file."""
    with _guard:
        return _turns.setdefault(database, Turns())


WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's SQLite backend; transactions, and writes outside of one, wait for their turn."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Closing the stack ends the turn; empty if this connection has none.
        self._turn = ExitStack()
        self.execute_wrappers.append(self._write_in_turn)

    def _take_turn(self) -> ExitStack:
        turns = turns_at(str(self.settings_dict["NAME"]))
        timeout = self.settings_dict["OPTIONS"].get("timeout", 5.0)
        if not turns.take(timeout):
            raise OperationalError("database is locked")
        turn = ExitStack()
        turn.callback(turns.give_up)
        return turn

    def _write_in_turn(
        self,
        execute: Callable[..., Any],
        sql: Any,
        params: Any,
        many: bool,
        context: dict[str, Any],
    ) -> Any:
        if not self.autocommit or not str(sql).lstrip().upper().startswith(WRITES):
            return execute(sql, params, many, context)
        with self._take_turn():
            return execute(sql, params, many, context)

    def _start_transaction_under_autocommit(self) -> None:
        with self._take_turn() as turn:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
            self._turn = turn.pop_all()

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]
        self._turn.close()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._turn.close()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._turn.close()
