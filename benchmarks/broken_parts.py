"""Parts of an installation that fail when they are told to: a network, a disk, and a queue."""

import os
import random
import socket
import socketserver
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import boto3
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.server import ThreadedMotoServer
from moto.sqs.models import sqs_backends

from hits.local import HOST

CHUNK = 65_536
# Only replies of the Requester API have this.
OF_THE_API = b"x-amzn-requestid"
# Answers of a proxy, a sign-in page of a network, or a broken server in place of a marketplace.
RUBBISH = (
    b"{}",
    b"null",
    b'{"HITs": [{}], "NumResults": "many", "HIT": 7, "Assignment": {"AssignmentStatus": "?"}}',
    b'{"NumResults": 1, "HITs": [',
    b"<html><body>Sign in to this network.</body></html>",
    b"\xff\xfe\x00",
    b"",
)
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
DISK_MB = 600
QUEUE_KEY = "sqs"
REGION = "us-east-1"
# How long a first message is waited for, and how many of the latest and earlier ones are repeated.
REPEATED_WITHIN = 20.0
LATEST, EARLIER = 10, 3


class Network:
    """Forwards connections to a port of this machine, until they are cut."""

    def __init__(self) -> None:
        self.target = 0
        # The replacements of the next replies of the API.
        self.rubbish: list[bytes] = []
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        network = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                network._forward(self.request)

        self.server = socketserver.ThreadingTCPServer((HOST, 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def cut(self) -> int:
        """Close every connection, in the middle of its work; return their number."""
        with self._lock:
            cut = list(self._open)
        for end in cut:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        return len(cut) // 2  # each has two ends

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.cut()

    def _forward(self, client: socket.socket) -> None:
        with suppress(OSError), socket.create_connection((HOST, self.target), timeout=5) as server:
            server.settimeout(None)
            with self._lock:
                self._open |= {client, server}
            back = threading.Thread(target=_pump, args=(server, client, self._spoiled), daemon=True)
            back.start()
            _pump(client, server)
            back.join()
        with self._lock:
            self._open.discard(client)
            self._open = {end for end in self._open if end.fileno() >= 0}

    def _spoiled(self, reply: bytes) -> bytes:
        """The answer that arrives in place of a reply of the API; empty if the reply itself
        does."""
        with self._lock:
            if not self.rubbish or OF_THE_API not in reply.lower():
                return b""
            body = self.rubbish.pop()
        return REPLY % (len(body), body)


def _pump(
    source: socket.socket,
    target: socket.socket,
    spoiled: Callable[[bytes], bytes] = lambda _: b"",
) -> None:
    """Copy what arrives until one side closes or something is spoiled, then close both."""
    with suppress(OSError):
        while data := source.recv(CHUNK):
            if rubbish := spoiled(data):
                target.sendall(rubbish)
                break
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class Disk:
    """A small disk that can be filled; a plain folder where mounting is not allowed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=755", "tmpfs", str(folder)]
        done = subprocess.run(mount, capture_output=True)
        self.can_be_filled = done.returncode == 0

    @contextmanager
    def full(self) -> Iterator[None]:
        """Leave no room on the disk while the block runs."""
        ballast = self.folder / "ballast"
        with ballast.open("wb") as file:
            with suppress(OSError):
                while True:
                    free = os.statvfs(self.folder)
                    os.posix_fallocate(
                        file.fileno(), file.tell(), max(4096, free.f_bavail * free.f_bsize)
                    )
                    file.seek(0, os.SEEK_END)
            try:
                yield
            finally:
                file.truncate(0)
        ballast.unlink()

    def close(self) -> None:
        if self.can_be_filled:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=True)


class Queue:
    """A queue of the marketplace's events, served by moto, which repeats and reorders them."""

    def __init__(self) -> None:
        self.server = ThreadedMotoServer(ip_address=HOST, port=0, verbose=False)
        self.server.start()
        self.endpoint = "http://{}:{}".format(*self.server.get_host_and_port())
        self.client: Any = boto3.client(
            "sqs",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=QUEUE_KEY,
            aws_secret_access_key=QUEUE_KEY,
        )
        self.url = str(self.client.create_queue(QueueName="events")["QueueUrl"])
        # All messages so far: the reconciler may have read and deleted them before they are
        # repeated.
        self._sent: dict[str, None] = {}
        self._note_messages()

    @property
    def settings(self) -> dict[str, str]:
        """The variables of both sites that make them use it."""
        return {
            "MARKETPLACE_NOTIFICATION_ENDPOINT": self.endpoint,
            "MTURK_NOTIFICATION_QUEUE_URL": self.url,
            "MTURK_SQS_ACCESS_KEY_ID": QUEUE_KEY,
            "MTURK_SQS_SECRET_ACCESS_KEY": QUEUE_KEY,
        }

    def repeat(self, rng: random.Random) -> int:
        """Send the latest messages, and some earlier ones, once more in another order.

        If there was none yet, wait for one for REPEATED_WITHIN; return how many were sent.
        """
        end = time.monotonic() + REPEATED_WITHIN
        while not self._sent and time.monotonic() < end:
            time.sleep(0.05)
        sent = list(self._sent)
        latest, earlier = sent[-LATEST:], sent[:-LATEST]
        again = latest + rng.sample(earlier, min(EARLIER, len(earlier)))
        for body in rng.sample(again, len(again)):
            self.client.send_message(QueueUrl=self.url, MessageBody=body)
        return len(again)

    def _note_messages(self) -> None:
        """Let the server, which runs in threads of this process, note each new message."""
        queue = sqs_backends[DEFAULT_ACCOUNT_ID][REGION].get_queue("events")
        add = queue.add_message

        def add_and_note(message: Any) -> None:
            self._sent[str(message.body)] = None
            add(message)

        queue.add_message = add_and_note  # type: ignore[method-assign]

    def close(self) -> None:
        self.server.stop()
