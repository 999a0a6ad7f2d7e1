"""A proxy in front of a marketplace that simulates failing networks and servers."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests

from tests.servers import PATIENCE

BEFORE, AFTER, THROTTLE, DROP, REPEAT = "before", "after", "throttle", "drop", "repeat"


class Faults:
    """Planned faults by operation, and counts of the calls that arrived."""

    def __init__(self) -> None:
        self.planned: dict[str, list[str]] = {}
        self.reached: Counter[str] = Counter()
        self.first_pages: dict[str, bytes] = {}
        self.rewritten: dict[str, Callable[[dict[str, Any]], Any]] = {}

    def plan(self, operation: str, *kinds: str) -> None:
        """Let the next calls of the operation fail in these ways, one each."""
        self.planned[operation] = list(kinds)

    def rewrite(self, operation: str, change: Callable[[dict[str, Any]], Any]) -> None:
        """Change successful replies to the operation with `change` until `mend`.

        `change` returns an object, or the bytes of a body.
        """
        self.rewritten[operation] = change

    def mend(self) -> None:
        """Stop changing replies."""
        self.rewritten.clear()

    def reply(self, operation: str, body: bytes) -> bytes:
        if operation not in self.rewritten:
            return body
        made = self.rewritten[operation](json.loads(body or b"{}"))
        return made if isinstance(made, bytes) else json.dumps(made).encode()

    def next(self, operation: str) -> str:
        kinds = self.planned.get(operation) or [""]
        return kinds.pop(0)


class Handler(BaseHTTPRequestHandler):
    """Forwards calls to the target, with the planned faults."""

    def __init__(self, *args: Any, target: str, faults: Faults) -> None:
        self.target, self.faults = target, faults
        # Answers the request, and returns when the connection is closed.
        super().__init__(*args)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        operation = self.headers.get("X-Amz-Target", "").rsplit(".", 1)[-1]
        fault = self.faults.next(operation)
        if fault in (BEFORE, THROTTLE):
            self.refuse(fault)
            return
        # The signature covers the host, so the host goes through as it came.
        answer = requests.post(
            self.target + "/", data=body, headers=dict(self.headers), timeout=PATIENCE
        )
        self.faults.reached[operation] += 1
        self.pass_on(fault, operation, answer)

    def pass_on(self, fault: str, operation: str, answer: requests.Response) -> None:
        if fault == AFTER:
            self.refuse(BEFORE)
        elif fault == DROP:
            self.connection.close()
        elif fault == REPEAT:
            self.answer(answer.status_code, repeated(self.faults, operation, answer.content))
        elif answer.ok:
            self.answer(answer.status_code, self.faults.reply(operation, answer.content))
        else:
            self.answer(answer.status_code, answer.content)

    def refuse(self, fault: str) -> None:
        name = "ThrottlingException" if fault == THROTTLE else "ServiceFault"
        body = json.dumps({"__type": name, "message": "Rate exceeded"}).encode()
        self.answer(400 if fault == THROTTLE else 500, body)

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def repeated(faults: Faults, operation: str, body: bytes) -> bytes:
    """Always the operation's first page with its token."""
    return faults.first_pages.setdefault(operation, body)


@contextmanager
def faulty_proxy(target: str) -> Iterator[tuple[str, Faults]]:
    """Run the proxy; yields its URL and its faults."""
    faults = Faults()
    handler = partial(Handler, target=target, faults=faults)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", faults
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
