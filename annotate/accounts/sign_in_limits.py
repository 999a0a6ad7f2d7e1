"""How many wrong passwords are taken before sign-in is locked: django-axes with limits of ours."""

import ipaddress
from contextlib import suppress
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

LONGEST_NAME = 150
# In place of NULL, which a unique constraint does not compare.
UNKNOWN = "0.0.0.0"
Credentials = dict[str, Any]


class SignInLimits(AxesDatabaseHandler):  # type: ignore[misc]  # django-axes has no types.
    """Counts wrong passwords against a limit for each entry of AXES_LOCKOUT_PARAMETERS.

    django-axes has one limit for all entries. With that an office that shares an address would be
    locked as soon as one person is, and a stranger could lock an account from one address.
    """

    def get_failures(self, request: HttpRequest, credentials: Credentials | None = None) -> int:
        """How many times over the limit that is exceeded most is reached; sign-in is locked from
        1 on (AXES_FAILURE_LIMIT)."""
        counts = self.get_user_attempts(request, credentials)
        return max(
            (attempts.aggregate(sum=Sum("failures_since_start"))["sum"] or 0) // limit
            for attempts, limit in zip(counts, settings.SIGN_IN_LIMITS, strict=True)
        )

    def reset_user_attempts(
        self, request: HttpRequest, credentials: Credentials | None = None
    ) -> int:
        """Forget the wrong passwords for this account from this address; returns how many rows.
        Those of other accounts or addresses still count."""
        deleted, _ = self.filter_user_attempts(request, credentials)[0].delete()
        return int(deleted)


def counted_name(request: HttpRequest, credentials: Credentials | None) -> str:
    """The name that wrong passwords count for. No account has a longer one, and django-axes'
    table takes none."""
    name: str = (credentials or request.POST).get("username") or ""
    return name[:LONGEST_NAME]


def client_address(request: HttpRequest) -> str:
    """The address that wrong passwords count for, UNKNOWN if there is none.

    Behind a proxy it is what the proxy itself added to X-Forwarded-For, the last address; what
    stands before it is whatever the client sent. Of an IPv6 address the network counts, since
    everybody has more addresses in one than they could try.
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
    """The address, which some proxies give with a port: 192.0.2.7:4711, [2001:db8::7]:4711."""
    for text in (address, address.rpartition(":")[0].strip("[]")):
        with suppress(ValueError):
            return ipaddress.ip_address(text)
    return None


def locked(request: HttpRequest, *_: object, **__: object) -> HttpResponse:
    """The answer while sign-in is locked; the password was not looked at."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds()) // 60
    message = f"Too many wrong passwords. Wait {minutes} minutes, then try again."
    response: HttpResponse
    if request.path.startswith("/api/"):
        response = JsonResponse({"detail": message}, status=429)
    else:
        context = {"title": "Sign-in is locked", "message": message}
        response = render(request, "annotate/error.html", context, status=429)
    response.headers["Retry-After"] = str(minutes * 60)
    return response
