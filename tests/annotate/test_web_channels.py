"""The embedded web server sends whole answers, however slowly they are read."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from waitress.adjustments import Adjustments
from waitress.server import create_server

from shared.web_channels import Channel

MEGABYTE = 1_000_000
# The last is more than waitress keeps of an answer before it lets the thread wait.
SIZES = (0, 1, MEGABYTE, 40 * MEGABYTE)


def answer(environ: Any, start_response: Any) -> Iterator[bytes]:
    """As many bytes as the path says, in parts."""
    left = int(environ["PATH_INFO"].strip("/"))
    start_response("200 OK", [("Content-Length", str(left))])
    while left:
        part = min(left, MEGABYTE)
        left -= part
        yield b"x" * part


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    server = create_server(answer, host="127.0.0.1", port=0, threads=4, asyncore_use_poll=True)
    server.channel_class = Channel
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server.effective_host, server.effective_port
    finally:
        server.trigger.pull_trigger(server.close)
        thread.join(10)


@pytest.mark.parametrize("size", SIZES)
def test_an_answer_arrives_whole(address, size):
    connection = http.client.HTTPConnection(*address, timeout=60)

    for _ in range(2):  # on the same connection
        connection.request("GET", f"/{size}")
        assert len(connection.getresponse().read()) == size

    connection.close()


def test_an_answer_arrives_whole_if_it_is_read_slowly(address):
    size = 20 * MEGABYTE
    connection = http.client.HTTPConnection(*address, timeout=60)
    connection.connect()
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)

    connection.request("GET", f"/{size}")
    response = connection.getresponse()
    read = 0
    while part := response.read(2 * MEGABYTE):
        read += len(part)
        time.sleep(0.02)

    assert read == size
    connection.close()


def test_the_main_thread_leaves_sending_to_the_thread_that_answers():
    """Unless more is waiting than waitress keeps of an answer."""
    channel = Channel.__new__(Channel)
    channel.adj = Adjustments()
    channel.will_close = channel.close_when_flushed = False

    channel.requests, channel.total_outbufs_len = [object()], 1
    assert not channel.writable()
    channel.total_outbufs_len = channel.adj.outbuf_high_watermark
    assert channel.writable()
    channel.requests, channel.total_outbufs_len = [], 1
    assert channel.writable()


def test_many_connections_are_answered_at_the_same_time(address):
    connections = [http.client.HTTPConnection(*address, timeout=60) for _ in range(20)]

    for connection in connections:
        connection.request("GET", f"/{MEGABYTE}")

    assert [len(each.getresponse().read()) for each in connections] == [MEGABYTE] * 20
    for connection in connections:
        connection.close()
