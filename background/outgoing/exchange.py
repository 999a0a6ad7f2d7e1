"""Send one HTTP request to an address that somebody entered.

The host is resolved once, its addresses are checked, and the connection goes to the address that
was checked, so that a name cannot lead elsewhere between the two. Redirects are not followed, and
proxies are not used.
"""

import http.client
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Timer
from time import monotonic
from typing import NamedTuple

from background.outgoing.addresses import Target, check_public, parse, resolve


class Answer(NamedTuple):
    """A response: at most `most_bytes` of its content, and whether there is more."""

    status: int
    location: str
    content: bytes
    is_cut: bool


def exchange(
    url: str,
    *,
    method: str,
    seconds: float,
    most_bytes: int,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    allows_private: bool = False,
) -> Answer:
    """Send a request and read the response, all within so many seconds.

    Raises AddressRefused, OSError, http.client.HTTPException and ValueError.
    """
    target, began = parse(url), monotonic()
    addresses = resolve(target, seconds=seconds)
    if not allows_private:
        check_public(target.host, addresses)
    # A timeout of 0 would mean a socket that never waits.
    left = max(seconds - (monotonic() - began), 0.001)
    return _exchange(target, addresses[0], method, body, headers or {}, left, most_bytes)


def _exchange(
    target: Target,
    address: str,
    method: str,
    body: bytes | None,
    headers: Mapping[str, str],
    seconds: float,
    most_bytes: int,
) -> Answer:
    plain = socket.create_connection((address, target.port), timeout=seconds)
    with _closed_after(seconds, plain) as watched:
        if target.scheme == "https":
            context = ssl.create_default_context()
            watched.append(context.wrap_socket(plain, server_hostname=target.host))
        connection = http.client.HTTPConnection(target.host, target.port, timeout=seconds)
        connection.sock = watched[-1]
        all_headers = {"Host": target.host_header, "Connection": "close", **headers}
        connection.request(method, target.path, body, all_headers)
        answer = connection.getresponse()
        content = answer.read(most_bytes + 1)
        location = answer.headers.get("Location", "")
        return Answer(answer.status, location, content[:most_bytes], len(content) > most_bytes)


@contextmanager
def _closed_after(seconds: float, first: socket.socket) -> Iterator[list[socket.socket]]:
    """Close the sockets at the end of the block, and shut them down after so many seconds.

    A timeout of the socket alone would begin again with every byte.
    """
    watched = [first]
    is_late = False

    def shut_down() -> None:
        nonlocal is_late
        is_late = True
        for each in reversed(watched):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    timer = Timer(seconds, shut_down)
    timer.daemon = True
    timer.start()
    try:
        yield watched
        if is_late:
            raise TimeoutError
    except (OSError, http.client.HTTPException, ValueError) as error:
        if is_late or isinstance(error, TimeoutError):
            raise TimeoutError(f"nothing complete within {round(seconds, 1):g} s") from error
        raise
    finally:
        timer.cancel()
        for each in reversed(watched):
            each.close()
