"""The look-up of known vulnerabilities says when it is skipped, and never fails for that."""

import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tools import audit

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def index() -> Iterator[ThreadingHTTPServer]:
    """An index that answers with `server.answer`: a status and a body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = self.server.answer
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((200, json.dumps({"vulnerabilities": []}).encode()), ""),
        ((200, b"{}"), "has no list of vulnerabilities (200)"),
        ((403, b"{}"), "has no list of vulnerabilities (403)"),
        ((200, b"<html>"), "does not answer (JSONDecodeError)"),
    ],
)
def test_an_index_without_vulnerabilities_is_a_reason_to_skip(index, answer, reason):
    index.answer = answer
    url = f"http://127.0.0.1:{index.server_port}/"

    assert audit.why_skipped(url) == (reason and f"{url} {reason}")


@pytest.mark.slow
def test_without_an_index_the_check_says_that_it_was_skipped_and_succeeds():
    command = [sys.executable, "tools/audit.py", "--index", "http://127.0.0.1:9/"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "pip-audit was skipped: http://127.0.0.1:9/ does not answer" in done.stdout


def test_a_finding_fails(index, monkeypatch):
    index.answer = 200, b'{"vulnerabilities": []}'
    url = f"http://127.0.0.1:{index.server_port}/"
    seen = []

    def run(command, *, check):
        seen.append(command)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(sys, "argv", ["audit", "--index", url])
    monkeypatch.setattr(subprocess, "run", run)

    assert audit.main() == 1
    assert str(ROOT / "requirements.txt") in seen[0]


@pytest.mark.slow
def test_pip_audit_takes_the_options():
    done = subprocess.run(
        [sys.executable, "-m", "pip_audit", "--help"], capture_output=True, text=True, check=True
    )

    for option in ("--no-deps", "--disable-pip", "--progress-spinner", "--requirement"):
        assert option in done.stdout
