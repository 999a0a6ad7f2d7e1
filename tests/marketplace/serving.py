"""A WSGI application on a port of this machine, in a thread of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from waitress import wasyncore
from waitress.server import create_server

from tests.servers import PATIENCE


@contextmanager
def serving(application: Any, *, threads: int) -> Iterator[str]:
    """Serve the application until the end of the block; yields its URL."""
    server = create_server(application, host="127.0.0.1", port=0, threads=threads)

    def run() -> None:
        with suppress(OSError, ValueError):
            server.run()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.task_dispatcher.shutdown()
        server.close()
        # Connections that clients keep alive would keep the server's loop going for two minutes.
        wasyncore.close_all(server._map)
        thread.join(timeout=PATIENCE)
