"""A process of the marketplace: a threaded web server, and the threads that run beside it."""

import signal
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from waitress.server import create_server

from marketplace import clock
from marketplace.extensions import Step, extensions
from marketplace.services import rehearsals
from marketplace.services.mail_invitations import send_invitations
from marketplace.services.notifications import deliver
from marketplace.services.retention import forget
from marketplace.services.sweep import sweep_by_the_clock
from shared.repeater import Repeater


class Companion(Protocol):
    """A thread that runs together with the web server."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


def serve(
    *, host: str, port: int, ready: Callable[[str], object], beside: Sequence[Companion] = ()
) -> None:
    """Serve until SIGTERM or SIGINT; raises OSError if the address is in use.

    The caller must check the address with `shared.secret_key`.
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
    companions: list[Companion] = []
    try:
        for companion in (*beside, *repeaters()):
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


def repeaters() -> list[Repeater]:
    """The threads of one process, not started."""
    # In separate threads, so that a requester's slow queue does not delay the sweep.
    added = [step for extension in extensions() for step in extension.steps]
    steps: list[Step] = [sweep_by_the_clock, deliver, send_invitations, *added]
    return [
        *(_repeated(step, every=settings.SWEEP_SECONDS) for step in steps),
        _repeated(forget, every=settings.RETENTION_SECONDS),
    ]


def _repeated(step: Step, *, every: float) -> Repeater:
    return Repeater(step.__name__, partial(_do, step), every=every)


def _do(step: Step) -> int:
    rehearsals.follow()
    return step(at=clock.now())
