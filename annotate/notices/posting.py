"""Send one signed request to a webhook.

The host is resolved once, its addresses are checked, and the connection goes to the address that
was checked, so that a name cannot lead elsewhere between the two. Redirects are not followed.
"""

import base64
import hashlib
import hmac
import http.client
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Timer

from annotate.notices.addresses import AddressRefused, Target, check_public, parse, resolve

PREFIX = "whsec_"
MOST_READ = 65_536


class NotDelivered(Exception):
    """The webhook did not accept the request; the message says why."""


def signature(secret: str, key: str, timestamp: int, body: bytes) -> str:
    """The signature of the Standard Webhooks specification: HMAC-SHA256 of id, time and body."""
    signed = f"{key}.{timestamp}.".encode() + body
    raw = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.new(raw, signed, hashlib.sha256).digest()).decode()


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    seconds: float,
    allows_private: bool = False,
) -> None:
    """Send the body; raises NotDelivered unless the answer is 2xx within so many seconds."""
    try:
        target = parse(url)
        addresses = resolve(target)
        if not allows_private:
            check_public(target.host, addresses)
        status, location = _exchange(target, addresses, body, headers, seconds)
    except AddressRefused as error:
        raise NotDelivered(str(error)) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise NotDelivered(f"No answer: {reason[:300]}") from error
    if 300 <= status < 400:
        raise NotDelivered(
            f"The answer was a redirect ({status}) to {location[:200]}. Redirects are not "
            "followed: enter the final address."
        )
    if not 200 <= status < 300:
        raise NotDelivered(f"The answer was {status}.")


def _exchange(
    target: Target, addresses: list[str], body: bytes, headers: Mapping[str, str], seconds: float
) -> tuple[int, str]:
    """Send the request to the first address; return the answer's status and Location."""
    plain = socket.create_connection((addresses[0], target.port), timeout=seconds)
    with _closed_after(seconds, plain) as watched:
        if target.scheme == "https":
            context = ssl.create_default_context()
            watched.append(context.wrap_socket(plain, server_hostname=target.host))
        connection = http.client.HTTPConnection(target.host, target.port, timeout=seconds)
        connection.sock = watched[-1]
        all_headers = {"Host": target.host_header, "Connection": "close", **headers}
        connection.request("POST", target.path, body, all_headers)
        answer = connection.getresponse()
        answer.read(MOST_READ)
        return answer.status, answer.headers.get("Location", "")


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
    except (OSError, http.client.HTTPException, ValueError) as error:
        if is_late or isinstance(error, TimeoutError):
            raise TimeoutError(f"nothing complete within {seconds:g} s") from error
        raise
    finally:
        timer.cancel()
        for each in reversed(watched):
            each.close()
