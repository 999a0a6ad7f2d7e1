"""Check the address on which the marketplace listens."""

import ipaddress
import socket

from django.conf import settings

from marketplace.keys import SET_ONE


class ListeningRefused(Exception):
    """The marketplace must not listen on this address with its configuration."""


def check_address(host: str) -> None:
    """Raise ListeningRefused for a public address without a signing key or with test hooks.

    The address matters, not the site's URL, because clients can connect to it directly. Raises
    OSError for a name without an address.
    """
    if is_loopback(host):
        return
    if settings.TEST_HOOKS:
        raise ListeningRefused(
            f"Others can reach {host or 'every address of this machine'}, and "
            "MARKETPLACE_TEST_HOOKS lets anybody who reaches the marketplace sign in as any worker."
        )
    if settings.SECRET_KEY_IS_SET:
        return
    raise ListeningRefused(
        f"Others can reach {host or 'every address of this machine'}, and MARKETPLACE_SECRET_KEY "
        f"is not set. {SET_ONE}"
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address; a name must have only such addresses."""
    if host in ("", "*"):
        # Waitress and the socket module then listen on all addresses.
        return False
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return all(_is_loopback(str(address[0])) for *_, address in found)


def _is_loopback(address: str) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(parsed, "ipv4_mapped", None)
    return (mapped or parsed).is_loopback
