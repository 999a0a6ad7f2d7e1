"""The marketplace as one process: a threaded web server and threads that keep the time."""

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
from marketplace.services.sweep import sweep

logger = logging.getLogger(__name__)


class Step(Protocol):
    """Something that is due now and then; returns how much of it was done."""

    __name__: str

    def __call__(self, *, at: datetime) -> int: ...


class Companion(Protocol):
    """Something that runs beside the web server."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Repeater(threading.Thread):
    """Does what is due, again and again, until it is told to stop."""

    def __init__(self, step: Step, *, every: float | None = None) -> None:
        super().__init__(name=step.__name__, daemon=True)
        self.step = step
        # Seconds between two turns.
        self.every = settings.SWEEP_SECONDS if every is None else every
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.wait(self.every):
            try:
                while self.step(at=clock.now()) and not self.stopped.is_set():
                    pass
            except Exception:
                # Whatever it was, time goes on: the next turn finds what this one left.
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
    """Serve until SIGTERM or SIGINT; raises OSError where an address is taken.

    The caller checks the address (`marketplace.listening`), also for what is beside.
    """
    server = create_server(
        get_wsgi_application(),
        host=host,
        port=port,
        threads=settings.SERVER_THREADS,
        connection_limit=4000,
        # select() takes no more than 1,024 connections.
        asyncore_use_poll=True,
        max_request_body_size=2 * settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        # A proxy's word on address and scheme reaches the application only where there is one.
        clear_untrusted_proxy_headers=not settings.BEHIND_PROXY,
        ident="marketplace",
    )
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    # Apart, so that a slow queue of a requester's does not stop the time.
    companions: list[Companion] = []
    try:
        repeaters = (
            Repeater(sweep),
            Repeater(deliver),
            Repeater(forget, every=settings.RETENTION_SECONDS),
        )
        for companion in (*beside, *repeaters):
            companion.start()
            companions.append(companion)
        ready(
            f"The marketplace is ready at {settings.MARKETPLACE_URL} (listening on {host}:{port})."
        )
        # Ends by itself, with its work done, when the signal's SystemExit reaches it.
        server.run()
    finally:
        for companion in companions:
            companion.stop()
        server.close()


def _stop(*_arguments: object) -> None:
    raise SystemExit(0)
