"""The marketplace as one process: a threaded web server and background threads."""

import logging
import signal
import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, connection
from waitress.server import create_server

from marketplace import clock
from marketplace.services.notifications import deliver
from marketplace.services.retention import forget
from marketplace.services.sweep import sweep_by_the_clock

logger = logging.getLogger(__name__)


class Step(Protocol):
    """A periodic action; returns how much it did, and is called again until that is 0."""

    __name__: str

    def __call__(self, *, at: datetime) -> int: ...


class Companion(Protocol):
    """A thread that runs together with the web server."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


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


def serve(
    *, host: str, port: int, ready: Callable[[str], object], beside: Sequence[Companion] = ()
) -> None:
    """Serve until SIGTERM or SIGINT; raises OSError if the address is in use.

    The caller must check the address with `marketplace.listening`.
    """
    server = create_server(
        get_wsgi_application(),
        host=host,
        port=port,
        threads=settings.SERVER_THREADS,
        connection_limit=4000,
        # select() supports at most 1,024 connections.
        asyncore_use_poll=True,
        max_request_body_size=2 * settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        # Only behind a proxy are X-Forwarded headers passed to the application.
        clear_untrusted_proxy_headers=not settings.BEHIND_PROXY,
        ident="marketplace",
    )
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    # In a separate thread, so that a requester's slow queue does not delay the sweep.
    companions: list[Companion] = []
    try:
        repeaters = (
            Repeater(sweep_by_the_clock),
            Repeater(deliver),
            Repeater(forget, every=settings.RETENTION_SECONDS),
        )
        for companion in (*beside, *repeaters):
            companion.start()
            companions.append(companion)
        ready(
            f"The marketplace is ready at {settings.MARKETPLACE_URL} (listening on {host}:{port})."
        )
        # Finishes its requests and returns when the signal handler raises SystemExit.
        server.run()
    finally:
        for companion in companions:
            companion.stop()
        server.close()


def _stop(*_arguments: object) -> None:
    raise SystemExit(0)
