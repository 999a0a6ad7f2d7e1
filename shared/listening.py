"""Who can reach the address on which a site listens."""

import ipaddress
import socket

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from shared.secret_key import advice


def is_loopback(host: str) -> bool:
    """Whether a server that listens on this host can be reached only from this machine."""
    try:
        found = socket.getaddrinfo(host or "0.0.0.0", None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(_is_loopback(str(address[0])) for *_, address in found)


def _is_loopback(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    # Before Python 3.13, a mapped address is not loopback.
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback


def check_listening(host: str) -> None:
    """Raise ImproperlyConfigured if other machines can reach a site without a key of its own.

    The address matters, not the site's URL, because clients can connect to it directly.
    """
    if not settings.SECRET_KEY_IS_SET and not is_loopback(host):
        raise ImproperlyConfigured(
            f"{settings.SECRET_KEY_VARIABLE} is not set, and other machines can reach "
            f"{host or 'all addresses'}. {advice(settings.SECRET_KEY_VARIABLE)}"
        )


def check_wsgi_server() -> None:
    """Raise ImproperlyConfigured if a server that does not tell its address has no key to use."""
    if not settings.SECRET_KEY_IS_SET:
        raise ImproperlyConfigured(
            f"{settings.SECRET_KEY_VARIABLE} is not set, which a WSGI server needs. "
            f"{advice(settings.SECRET_KEY_VARIABLE)}"
        )
