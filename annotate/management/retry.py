"""Retry actions of commands that run forever."""

import logging
import time
from collections.abc import Callable

from django.db import Error

from annotate.errors import DomainError, one_line
from annotate.site.connections import drop_lost_connections

log = logging.getLogger(__name__)

LONGEST_PAUSE = 60.0


class Retry:
    """Runs actions that may fail, and pauses after a failure.

    The pause is one second, and doubles with each further failure in a row, up to a minute.
    """

    def __init__(self) -> None:
        self.failures = 0

    def attempt(self, action: Callable[[], object]) -> bool:
        """Run the action; return whether it succeeded. Errors are logged, broken connections
        replaced."""
        drop_lost_connections()
        try:
            action()
        except Exception as error:
            drop_lost_connections()
            self.failures += 1
            pause = min(2.0 ** (self.failures - 1), LONGEST_PAUSE)
            log_problem(f"Trying again in {pause:g} s", error)
            time.sleep(pause)
            return False
        self.failures = 0
        return True


def log_problem(context: str, error: Exception) -> None:
    """Log an error: one line for network and database errors, a traceback for bugs."""
    expected = isinstance(error, DomainError | Error | OSError)
    log.warning(
        "%s: %s: %s",
        context,
        type(error).__name__,
        one_line(error),
        exc_info=None if expected else error,
    )
