"""Start and stop servers as processes for tests."""

import atexit
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

# Seconds after which an operation counts as hanging; long, so that tests pass on slow machines.
PATIENCE = 120


def free_port() -> int:
    """A free port that no other test process gets while this process runs."""
    holder = socket.socket()
    holder.bind(("127.0.0.1", 0))
    port = int(holder.getsockname()[1])
    if sys.platform == "linux":
        # While the port is bound, the system gives it to no other process that asks for any port.
        # With SO_REUSEADDR, the server under test can still listen on it.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        atexit.register(holder.close)
    else:
        holder.close()
    return port


def wait_until_ready(url: str, process: "subprocess.Popen[Any]") -> None:
    """Return once the process answers at the URL; raises RuntimeError if it ends or hangs."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with status {process.returncode}")
        if answers(url):
            return
        time.sleep(0.1)
    raise RuntimeError(f"{process.args!r} did not answer at {url} within {PATIENCE} s")


def head(url: str) -> bytes:
    """All bytes of the response to a HEAD request on a connection that stays open."""
    parts = urlsplit(url)
    request = f"HEAD {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n"
    # The second request closes the connection after the response to the first.
    last = request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
    with socket.create_connection((parts.hostname, parts.port), PATIENCE) as connection:
        connection.sendall((request + last).encode())
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def answers(url: str) -> bool:
    """Whether a server answers at the URL without an error."""
    try:
        return requests.get(url, timeout=5).ok
    except (requests.ConnectionError, requests.Timeout):
        # A server that is starting may accept the connection before it can respond.
        return False


@contextmanager
def running(
    command: Sequence[str], log: Path, environment: Mapping[str, str], folder: Path
) -> Iterator["subprocess.Popen[Any]"]:
    """Run a process with its output in the log file, and stop it at the end."""
    with log.open("w") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        yield process
    finally:
        stop(process)


def hear_interrupts() -> None:
    """Restore the handling of Ctrl-C, which a shell disables for background jobs and their
    children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def stop(process: "subprocess.Popen[Any]") -> None:
    """Terminate the process, and kill it if it does not end."""
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_until(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
