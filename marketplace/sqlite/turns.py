"""A fair lock: threads get it in the order in which they asked."""

import threading
from collections import deque


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
