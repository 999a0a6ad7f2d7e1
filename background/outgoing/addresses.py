"""Which addresses a request may go to: none of this machine or its network. Without Django."""

import socket
from concurrent.futures import Future
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from threading import BoundedSemaphore, Thread
from typing import NamedTuple
from urllib.parse import urlsplit

NAT64 = IPv6Network("64:ff9b::/96")
PORTS = {"http": 80, "https": 443}
ADVICE = "Only public addresses are allowed."
# How long a form waits for the addresses of a name, in seconds.
FORM_SECONDS = 3.0
# How many names are resolved at once. The system's resolver can take a minute for each of them.
MOST_LOOKUPS = 16
THREAD = "resolve a host name"
_lookups = BoundedSemaphore(MOST_LOOKUPS)


class AddressRefused(Exception):
    """No request may go to this address; the message says why."""


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
        found = resolve(target, seconds=FORM_SECONDS)
    except OSError:
        return target
    if not allows_private:
        check_public(target.host, found)
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
    """The host's addresses. Raises OSError, also if there is no answer within so many seconds."""
    found: Future[list[str]] = Future()
    if not _lookups.acquire(timeout=seconds):
        raise TimeoutError("too many other host names are being resolved")
    # The system's resolver has no time limit, so it runs in a thread that need not end in time.
    Thread(target=_look_up, name=THREAD, args=(target, found), daemon=True).start()
    try:
        return found.result(timeout=seconds)
    except UnicodeError as error:
        raise OSError(f"{target.host} is not a valid host name") from error
    except TimeoutError as error:
        raise TimeoutError(f"{target.host} was not resolved within {seconds:g} s") from error


def _look_up(target: Target, found: Future[list[str]]) -> None:
    """Resolve the host, and give its addresses or the error to `found`."""
    try:
        infos = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        found.set_result(list(dict.fromkeys(str(info[4][0]) for info in infos)))
    except Exception as error:  # The thread that waits raises it.
        found.set_exception(error)
    finally:
        _lookups.release()


def check_public(host: str, addresses: list[str]) -> None:
    """Raise AddressRefused unless all the host's addresses are public."""
    if private := next((each for each in addresses if not is_public(each)), None):
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
