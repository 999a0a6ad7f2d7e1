"""A lock that threads get in the order in which they asked for it."""

import threading
from collections import deque


class Turns:
    """Like `threading.Lock`, but first come, first served.

    A released lock goes straight to the thread that has waited longest, so the wait is bounded by
    the number of threads ahead.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._is_taken = False
        self._waiting: deque[threading.Event] = deque()

    def take(self, timeout: float) -> bool:
        """Wait for a turn; returns whether it came within that many seconds."""
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
                # The turn came in the last moment.
                return True
            self._waiting.remove(mine)
            return False

    def give_up(self) -> None:
        """End the turn and start that of the next thread."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._is_taken = False


_guard = threading.Lock()
_turns: dict[str, Turns] = {}


def turns_at(database: str) -> Turns:
    """The lock of this process for the database file."""
    with _guard:
        return _turns.setdefault(database, Turns())
