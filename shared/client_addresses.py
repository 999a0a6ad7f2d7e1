"""Clients' addresses."""

import ipaddress
from contextlib import suppress

from django.conf import settings
from django.http import HttpRequest

# Used in place of none, so that requests without an address share one limit.
UNKNOWN = "0.0.0.0"


def client_address(request: HttpRequest) -> str:
    """The address for which a client's requests count, or UNKNOWN.

    Behind a proxy this is the last address in X-Forwarded-For, which the proxy added; the client
    can forge the others. For IPv6 it is the /64 network, because one client can use any address in
    it.
    """
    address = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_PROXY:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
        address = forwarded.rpartition(",")[2].strip() or address
    parsed = _parsed(address)
    if parsed is None:
        return UNKNOWN
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((int(parsed), 64), strict=False).network_address)


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address. Some proxies append a port: 192.0.2.7:4711, [2001:db8::7]:4711."""
    for text in (address, address.rpartition(":")[0].strip("[]")):
        with suppress(ValueError):
            return ipaddress.ip_address(text)
    return None
