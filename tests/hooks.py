"""Servers on this machine that receive webhooks, or fail to."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


@dataclass
class Receiver:
    """A server's received requests, and its answers."""

    url: str = ""
    status: int = 200
    location: str = ""
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def receiver(*, status: int = 200, location: str = "") -> Iterator[Receiver]:
    """A server that keeps each request and answers with the status."""
    received = Receiver(status=status, location=location)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            received.requests.append((dict(self.headers), self.rfile.read(length)))
            self.send_response(received.status)
            if received.location:
                self.send_header("Location", received.location)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    received.url = f"http://127.0.0.1:{server.server_port}/hook?from=campaigns"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def endless(byte: bytes) -> Iterator[str]:
    """A server that accepts a connection and never ends its answer: it sends the byte again and
    again, or nothing if it is empty. Yields its URL."""
    ended = Event()
    listening = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        connection, _ = listening.accept()
        with connection:
            while not ended.wait(0.01):
                try:
                    connection.sendall(byte)
                except OSError:
                    return

    thread = Thread(target=answer, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    finally:
        ended.set()
        thread.join()
        listening.close()
