"""The requester site under gunicorn: several processes, restarts that refuse nothing, and logs."""

import os
import re
import secrets
import signal
import socket
import sys
import time
from pathlib import Path
from threading import Event, Thread

import pytest
import requests

from tests.servers import PATIENCE, free_port, running, wait_until_ready

ROOT = Path(__file__).resolve().parents[2]
WORKER = "A2SUAM1J3GNN3B"
TOKEN = "a-token-for-prometheus"
PROCESSES = 2

pytestmark = pytest.mark.slow


class Server:
    """A running gunicorn with its address and log."""

    def __init__(self, url, process, log):
        self.url, self.process, self.log = url, process, log

    def started(self):
        return set(re.findall(r"Booting worker with pid: (\d+)", self.log.read_text()))

    def ended(self):
        return set(re.findall(r"Worker exiting \(pid: (\d+)\)", self.log.read_text()))

    def wait_for_log(self, is_written):
        deadline = time.monotonic() + PATIENCE
        while not is_written():
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gunicorn")
    port = free_port()
    environment = {
        **{k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"},
        "DATABASE_URL": f"sqlite:///{folder / 'empty.sqlite3'}",
        "SECRET_KEY": secrets.token_urlsafe(50),
        "WEB_CONCURRENCY": str(PROCESSES),
        "LOG_FORMAT": "text",
        "METRICS_TOKEN": TOKEN,
    }
    command = [
        *(sys.executable, "-m", "gunicorn", "--config", "python:shared.gunicorn"),
        *("--bind", f"127.0.0.1:{port}", "config.wsgi:application"),
    ]
    log = folder / "gunicorn.log"
    with running(command, log, environment, ROOT) as process:
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(f"{url}/sign-in/", process)
        yield Server(url, process, log)


def test_a_restart_refuses_no_request(server):
    failures, is_over = [], Event()

    def ask():
        while not is_over.is_set():
            try:
                status = requests.get(f"{server.url}/sign-in/", timeout=PATIENCE).status_code
            except requests.ConnectionError as error:
                status = str(error)
            if status != 200:
                failures.append(status)

    asking = Thread(target=ask)
    asking.start()
    server.wait_for_log(lambda: len(server.started()) == PROCESSES)
    first = server.started()
    server.process.send_signal(signal.SIGHUP)
    server.wait_for_log(lambda: first <= server.ended())
    is_over.set()
    asking.join()

    assert len(server.started() - first) == PROCESSES
    assert failures == []


def test_neither_an_error_nor_a_malformed_request_puts_a_worker_into_the_log(server):
    """The database is empty, so the task page fails."""
    answer = requests.get(f"{server.url}/task/pilot/?workerId={WORKER}", timeout=PATIENCE)
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as plain:
        plain.sendall(f"GET /task/pilot/?workerId={WORKER}\r\n\r\n".encode())
        refusal = plain.recv(100)

    assert answer.status_code == 500
    assert b" 400 " in refusal
    server.wait_for_log(lambda: "Invalid" in server.log.read_text())
    assert "Internal Server Error: /task/pilot/" in server.log.read_text()
    assert WORKER not in server.log.read_text()
