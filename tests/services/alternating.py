"""A load balancer that sends each request to the next of several servers."""

import itertools
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.servers import PATIENCE

# About one connection, and not about the request or its answer.
OF_A_CONNECTION = {"connection", "keep-alive", "transfer-encoding"}


class Handler(BaseHTTPRequestHandler):
    """Forwards a request, with its Host header, which the API's signatures cover."""

    def __init__(self, *args: Any, ports: Iterator[int]) -> None:
        self.ports = ports
        # Answers the request, and returns when the connection is closed.
        super().__init__(*args)

    def forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server = HTTPConnection("127.0.0.1", next(self.ports), timeout=PATIENCE)
        server.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in OF_A_CONNECTION:
                server.putheader(name, value)
        server.endheaders(body)
        answer = server.getresponse()
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in OF_A_CONNECTION:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.read())
        server.close()

    do_GET = do_HEAD = do_OPTIONS = forward
    do_POST = do_PUT = do_PATCH = do_DELETE = forward

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def alternating(port: int, targets: Sequence[int]) -> Iterator[None]:
    """Serve this port during the block by the servers at the other ports of this machine."""
    handler = partial(Handler, ports=itertools.cycle(targets))
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
