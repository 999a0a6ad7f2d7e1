"""Lock sign-in after too many wrong passwords, using django-axes with our own limits."""

import ipaddress
from contextlib import suppress
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotate.api.problems import is_api, problem_response

LONGEST_NAME = 150
# Used in place of NULL, because a unique constraint does not compare NULLs.
UNKNOWN = "0.0.0.0"
Credentials = dict[str, Any]


class SignInLimits(AxesDatabaseHandler):  # type: ignore[misc]  # django-axes has no types.
    """Counts wrong passwords against one limit for each entry of AXES_LOCKOUT_PARAMETERS.

    django-axes itself has one limit for all entries. With it, one person's mistakes would lock a
    whole office that shares an address, and anybody could lock an account from a single address.

    A password is counted once it was found wrong, so those of other requests that are going on at
    that moment are looked at, too. Before a lock at most `limit - 1 + threads` wrong passwords are
    looked at, where `threads` are those of all the site's processes.
    """

    def get_failures(self, request: HttpRequest, credentials: Credentials | None = None) -> int:
        """How many times the most exceeded limit has been reached.

        Sign-in is locked from 1 on (AXES_FAILURE_LIMIT).
        """
        counts = self.get_user_attempts(request, credentials)
        return max(
            (attempts.aggregate(sum=Sum("failures_since_start"))["sum"] or 0) // limit
            for attempts, limit in zip(counts, settings.SIGN_IN_LIMITS, strict=True)
        )

    def reset_user_attempts(
        self, request: HttpRequest, credentials: Credentials | None = None
    ) -> int:
        """Delete the wrong passwords for this account from this address; return the number of rows.

        Those for other accounts or from other addresses still count.
        """
        deleted, _ = self.filter_user_attempts(request, credentials)[0].delete()
        return int(deleted)


def counted_name(request: HttpRequest, credentials: Credentials | None) -> str:
    """The account name for which wrong passwords count, cut to the length of an account's name.

    django-axes' table cannot store longer names.
    """
    name: str = (credentials or request.POST).get("username") or ""
    return name[:LONGEST_NAME]


def client_address(request: HttpRequest) -> str:
    """The address for which wrong passwords count, or UNKNOWN.

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


def locked(request: HttpRequest, *_: object, **__: object) -> HttpResponse:
    """The response while sign-in is locked; the password is not checked."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds()) // 60
    message = f"Too many wrong passwords. Wait {minutes} minutes, then try again."
    response: HttpResponse
    if is_api(request):
        response = problem_response(429, message, "locked")
    else:
        context = {"title": "Sign-in is locked", "message": message}
        response = render(request, "annotate/error.html", context, status=429)
    response.headers["Retry-After"] = str(minutes * 60)
    return response
