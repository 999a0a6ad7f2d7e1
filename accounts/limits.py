"""Limits on requests by people who are not signed in.

Requests are counted in the site's cache, which each web process has for itself; wrong passwords in
the database, by django-axes with limits of our own.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from django.conf import settings
from django.core.cache import cache
from django.db.models import Q, Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.problems import is_api, problem_response
from shared.requests import client_address, refusal

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
TOO_MANY = "Too many requests"
View = Callable[..., HttpResponse]


def is_over(counter: str, most: int, *, per: timedelta = HOUR) -> bool:
    """Count one more of this, and return whether there were more than `most` in the time."""
    # A digest, because names and addresses are longer than the keys of some caches.
    key = salted_hmac("accounts.limits", counter, algorithm="sha256").hexdigest()
    if cache.add(key, 1, per.total_seconds()):
        return most < 1
    try:
        return int(cache.incr(key)) > most
    except ValueError:  # It ended between the two calls.
        return False


def limit_posts(view: View) -> View:
    """Answer POST requests with status 429 after PUBLIC_POSTS_PER_HOUR from one address."""

    @wraps(view)
    def limited(request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponse:
        most = settings.PUBLIC_POSTS_PER_HOUR
        posts = request.method == "POST" and most
        if posts and is_over(f"posts from {client_address(request)}", most):
            message = "Too many forms were sent from your network within an hour. Try again later."
            return refusal(request, 429, TOO_MANY, message, wait=HOUR)
        return view(request, *arguments, **options)

    return limited


def limit_reads(view: View) -> View:
    """Answer requests of people who are not signed in with status 429 after PUBLIC_READS_PER_MINUTE
    from one address."""

    @wraps(view)
    def limited(request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponse:
        most = settings.PUBLIC_READS_PER_MINUTE
        counts = most and not request.user.is_authenticated
        if counts and is_over(f"reads from {client_address(request)}", most, per=MINUTE):
            message = "This page was loaded too often from your network. Try again in a minute."
            return refusal(request, 429, TOO_MANY, message, wait=MINUTE)
        return view(request, *arguments, **options)

    return limited


LONGEST_NAME = 150
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

        Sign-in is locked at 1 or more (AXES_FAILURE_LIMIT).
        """
        counts = self.get_user_attempts(request, credentials)
        # Later ones are of a clock that was ahead.
        is_recent = Q(attempt_time__lt=timezone.now() + settings.AXES_COOLOFF_TIME)
        return max(
            (attempts.filter(is_recent).aggregate(sum=Sum("failures_since_start"))["sum"] or 0)
            // limit
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


def locked(request: HttpRequest, *_: object, **__: object) -> HttpResponse:
    """The response while sign-in is locked; the password is not checked."""
    wait = settings.AXES_COOLOFF_TIME
    seconds = int(wait.total_seconds())
    message = f"Too many wrong passwords. Wait {seconds // 60} minutes, then try again."
    if not is_api(request):
        return refusal(request, 429, "Sign-in is locked", message, wait=wait)
    return problem_response(429, message, "locked", {"Retry-After": str(seconds)})
