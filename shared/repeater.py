"""Work that a process repeats, in its main thread or in threads of their own."""

import logging
from collections.abc import Callable
from threading import Event, Thread, current_thread

from django.db import Error, connections

from shared.database.connections import drop_lost_connections

log = logging.getLogger(__name__)

LONGEST_PAUSE = 10.0
# Errors that pass, or that somebody has to repair outside of the program.
KNOWN: tuple[type[Exception], ...] = (Error, OSError)


def log_problem(context: str, error: Exception, known: tuple[type[Exception], ...]) -> None:
    """Log an error: one line if it is known, with a traceback if it is a defect."""
    first, *_ = str(error).splitlines() or [""]
    traceback = None if isinstance(error, known) else error
    log.warning("%s: %s: %s", context, type(error).__name__, first, exc_info=traceback)


class Repeater(Thread):
    """Calls a step at this interval in seconds until it is stopped, and again at once while it
    returns something true.

    An error ends the turn alone. With each further one in a row, the pause doubles.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[], object],
        *,
        every: float,
        known: tuple[type[Exception], ...] = KNOWN,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self.step, self.every, self.known = step, every, known
        self.stopped = Event()

    def run(self) -> None:
        pause = self.every
        try:
            while not self.stopped.wait(pause):
                is_done = self._turn()
                longer = min(max(2 * pause, 1.0), LONGEST_PAUSE)
                pause = self.every if is_done else max(longer, self.every)
        finally:
            if current_thread() is self:
                connections.close_all()

    def _turn(self) -> bool:
        drop_lost_connections()
        try:
            while self.step() and not self.stopped.is_set():
                pass
        except Exception as error:
            drop_lost_connections()
            log_problem(f"A turn of {self.name} could not be finished", error, self.known)
            return False
        return True

    def stop(self) -> None:
        """End the thread after the step that runs; wait for it for half a minute."""
        self.stopped.set()
        self.join(timeout=30)
