"""Send one HTTP request to an address that somebody entered, which leads to no private network.

The host is resolved once, its addresses are checked, and the connection goes to the address that
was checked, so that a name cannot lead elsewhere between the two. Redirects are not followed, and
proxies are not used.
"""

import http.client
import socket
import ssl
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from threading import BoundedSemaphore, Thread, Timer
from time import monotonic
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

NAT64 = IPv6Network("64:ff9b::/96")
PORTS = {"http": 80, "https": 443}
ADVICE = "Only public addresses are allowed."
# How long a form waits for the addresses of a name, in seconds.
FORM_SECONDS = 3.0
# How many names are resolved at once. The system's resolver can take a minute for each of them.
MOST_LOOKUPS = 16
THREAD = "resolve a host name"
_lookups = BoundedSemaphore(MOST_LOOKUPS)


class RequestFailed(Exception):
    """There is no answer, or none that helps; the message says why."""


class AddressRefused(RequestFailed):
    """No request may go to this address."""


class Target(NamedTuple):
    """The parts of a URL that a request needs."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def check_url(url: str, *, allows_private: bool) -> Target:
    """The parts of the URL.

    Raises AddressRefused for anything but http and https, and for names that now lead to a private
    address. A name that cannot be resolved now is accepted: each request resolves it again.
    """
    target = parse(url)
    try:
        addresses = resolve(target, seconds=FORM_SECONDS)
    except OSError:
        return target
    if not allows_private:
        check_public(target.host, addresses)
    return target


def parse(url: str) -> Target:
    """The parts of the URL; raises AddressRefused if it is not a plain http or https URL."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise AddressRefused("This is not a valid URL.") from error
    if parts.scheme not in PORTS or not parts.hostname:
        raise AddressRefused("The URL must begin with https:// or http:// and name a host.")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused("The URL must not have a user name or a password.")
    if not url.isascii() or any(character <= " " or character == "\x7f" for character in url):
        raise AddressRefused("The URL must have no blanks, and its host must be in ASCII form.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, parts.hostname, port or PORTS[parts.scheme], path)


def resolve(target: Target, *, seconds: float) -> list[str]:
    """The host's addresses. Raises OSError, also if there is no answer within this many seconds."""
    addresses: Future[list[str]] = Future()
    if not _lookups.acquire(timeout=seconds):
        raise TimeoutError("too many other host names are being resolved")
    # The system's resolver has no time limit, so it runs in a thread that need not end in time.
    Thread(target=_look_up, name=THREAD, args=(target, addresses), daemon=True).start()
    try:
        return addresses.result(timeout=seconds)
    except UnicodeError as error:
        raise OSError(f"{target.host} is not a valid host name") from error
    except TimeoutError as error:
        raise TimeoutError(f"{target.host} was not resolved within {seconds:g} s") from error


def _look_up(target: Target, addresses: Future[list[str]]) -> None:
    """Resolve the host, and give its addresses or the error to `found`."""
    try:
        infos = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        addresses.set_result(list(dict.fromkeys(str(info[4][0]) for info in infos)))
    except Exception as error:  # The thread that waits raises it.
        addresses.set_exception(error)
    finally:
        _lookups.release()


def check_public(host: str, addresses: list[str]) -> None:
    """Raise AddressRefused unless all the host's addresses are public."""
    if private := next((address for address in addresses if not is_public(address)), None):
        leads = "" if private == host else f", to which {host} leads,"
        raise AddressRefused(
            f"{private}{leads} is an address of this machine or a private network. {ADVICE}"
        )


def is_public(text: str) -> bool:
    """Whether the address is one of the public internet. An IPv4 address inside an IPv6 address
    counts as itself."""
    address = ip_address(text.split("%")[0])
    if isinstance(address, IPv6Address) and (inner := _embedded(address)) is not None:
        address = inner
    return address.is_global and not (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )


def _embedded(address: IPv6Address) -> IPv4Address | None:
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    if address.teredo is not None:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour


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
    headers: Mapping[str, str],
    allows_private: bool,
) -> Answer:
    """Send a request and read the response, all within this many seconds; raises RequestFailed."""
    target, began = parse(url), monotonic()
    try:
        addresses = resolve(target, seconds=seconds)
        if not allows_private:
            check_public(target.host, addresses)
        with _connected(target, addresses[0], began, seconds) as connection:
            connection.request(
                method,
                target.path,
                body,
                {"Host": target.host_header, "Connection": "close", **headers},
            )
            answer = connection.getresponse()
            content = answer.read(most_bytes + 1)
            location = answer.headers.get("Location", "")
            return Answer(answer.status, location, content[:most_bytes], len(content) > most_bytes)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise RequestFailed(f"No answer: {(str(error) or type(error).__name__)[:300]}") from error


@contextmanager
def _connected(
    target: Target, address: str, began: float, seconds: float
) -> Iterator[http.client.HTTPConnection]:
    """A connection to this address of the target. It is shut down this many seconds after the
    request began, because a timeout of the socket alone would begin again with every byte."""
    plain = socket.create_connection((address, target.port), timeout=_left(began, seconds))
    sockets = [plain]
    is_late = False

    def shut_down() -> None:
        nonlocal is_late
        is_late = True
        for each in reversed(sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    timer = Timer(_left(began, seconds), shut_down)
    timer.daemon = True
    timer.start()
    try:
        if target.scheme == "https":
            context = ssl.create_default_context()
            sockets.append(context.wrap_socket(plain, server_hostname=target.host))
        connection = http.client.HTTPConnection(target.host, target.port, timeout=seconds)
        connection.sock = sockets[-1]
        yield connection
        if is_late:
            raise TimeoutError
    except (OSError, http.client.HTTPException, ValueError) as error:
        if is_late or isinstance(error, TimeoutError):
            raise TimeoutError(f"nothing complete within {seconds:g} s") from error
        raise
    finally:
        timer.cancel()
        for each in reversed(sockets):
            each.close()


def _left(began: float, seconds: float) -> float:
    """What is left of the seconds. A timeout of 0 would mean a socket that never waits."""
    return max(began + seconds - monotonic(), 0.001)


MOST_REDIRECTS = 3
HEADERS = {"Accept": "image/*,*/*;q=0.5", "User-Agent": "caption-campaigns"}


def fetch(url: str, *, seconds: float, most_bytes: int, allows_private: bool = False) -> bytes:
    """The file at this http or https URL. Raises RequestFailed.

    Up to MOST_REDIRECTS redirects are followed; each address is checked like the first one.
    `seconds` is the time for each request, `most_bytes` the largest size.
    """
    asked = url
    for _ in range(MOST_REDIRECTS + 1):
        answer = exchange(
            url,
            method="GET",
            headers=HEADERS,
            seconds=seconds,
            most_bytes=most_bytes,
            allows_private=allows_private,
        )
        if 300 <= answer.status < 400 and answer.location:
            try:
                url = urljoin(url, answer.location)
            except ValueError as error:
                location = answer.location[:200]
                raise RequestFailed(f"It leads to {location}, which is not a valid URL.") from error
            continue
        if answer.status != 200:
            raise RequestFailed(f"The server's answer was {answer.status}.")
        if answer.is_cut:
            raise RequestFailed(f"It is larger than {most_bytes / 1_000_000:g} MB.")
        return answer.content
    raise RequestFailed(f"{asked} leads to more than {MOST_REDIRECTS} redirects.")
