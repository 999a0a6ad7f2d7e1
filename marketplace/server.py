"""A process of the marketplace: a threaded web server and background threads."""

import signal
from collections.abc import Callable, Sequence
from typing import Protocol

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from waitress.server import create_server

from marketplace.background import repeaters


class Companion(Protocol):
    """A thread that runs together with the web server."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


def serve(
    *, host: str, port: int, ready: Callable[[str], object], beside: Sequence[Companion] = ()
) -> None:
    """Serve until SIGTERM or SIGINT; raises OSError if the address is in use.

    The caller must check the address with `shared.listening`.
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
