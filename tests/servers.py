"""Servers that tests start as processes of their own: their ports, their start, their end."""

import atexit
import socket
import subprocess
import sys
import time
from typing import Any

import requests

# Seconds after which something hangs. A slow machine is no fault, so there are many of them.
PATIENCE = 120


def free_port() -> int:
    """A port of this machine that nobody else is given as long as this process lives."""
    holder = socket.socket()
    holder.bind(("127.0.0.1", 0))
    port = int(holder.getsockname()[1])
    if sys.platform == "linux":
        # As long as the port is bound, nobody who asks for any port gets this one. That it may be
        # used again lets the server that it is meant for listen on it all the same.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        atexit.register(holder.close)
    else:
        holder.close()
    return port


def wait_until_ready(url: str, process: "subprocess.Popen[Any]") -> None:
    """Return once the process answers at the URL; raises RuntimeError where it ends or hangs."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with status {process.returncode}")
        if answers(url):
            return
        time.sleep(0.1)
    raise RuntimeError(f"{process.args!r} did not answer at {url} within {PATIENCE} s")


def answers(url: str) -> bool:
    """Whether a server answers there, and well."""
    try:
        return requests.get(url, timeout=5).ok
    except (requests.ConnectionError, requests.Timeout):
        # A server that is just starting may take the call before it can answer it.
        return False


def stop(process: "subprocess.Popen[Any]") -> None:
    """Ask the process to end, and end it if it does not."""
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
