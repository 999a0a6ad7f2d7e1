"""The threads that run beside the web server in each process, and can run in several at once."""

import logging
import threading
from datetime import datetime
from typing import Protocol

from django.conf import settings
from django.db import close_old_connections, connection

from marketplace import clock
from marketplace.pages.people.mails import send_invitations
from marketplace.services import rehearsals
from marketplace.services.notifications import deliver
from marketplace.services.panels.rounds import follow
from marketplace.services.retention import forget
from marketplace.services.sweep import sweep_by_the_clock

logger = logging.getLogger(__name__)


class Step(Protocol):
    """A periodic action; returns how much it did, and is called again until that is 0."""

    __name__: str

    def __call__(self, *, at: datetime) -> int: ...


class Repeater(threading.Thread):
    """Calls a step regularly until it is stopped."""

    def __init__(self, step: Step, *, every: float | None = None) -> None:
        super().__init__(name=step.__name__, daemon=True)
        self.step = step
        # Seconds between two rounds.
        self.every = settings.SWEEP_SECONDS if every is None else every
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.wait(self.every):
            try:
                rehearsals.follow()
                while self.step(at=clock.now()) and not self.stopped.is_set():
                    pass
            except Exception:
                # Go on after any error: the next round does what this one left.
                logger.exception("A turn of %s could not be finished.", self.name)
            finally:
                close_old_connections()
        connection.close()

    def stop(self) -> None:
        self.stopped.set()
        self.join(timeout=30)


def repeaters() -> list[Repeater]:
    """The threads of one process, not started."""
    # In separate threads, so that a requester's slow queue does not delay the sweep.
    return [
        Repeater(sweep_by_the_clock),
        Repeater(deliver),
        Repeater(send_invitations),
        Repeater(forget, every=settings.RETENTION_SECONDS),
        Repeater(follow),
    ]
