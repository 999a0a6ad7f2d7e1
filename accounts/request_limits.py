"""Limits on requests by people who are not signed in.

Requests are counted in the site's cache, which each web process has for itself. Wrong passwords
have their own limits, in the database (`accounts.sign_in_limits`).
"""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

from shared.client_addresses import client_address
from shared.refusals import refusal

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
TOO_MANY = "Too many requests"
View = Callable[..., HttpResponse]


def is_over(what: str, most: int, *, per: timedelta = HOUR) -> bool:
    """Count one more of this, and return whether there were more than `most` in the time."""
    # A digest, because names and addresses are longer than the keys of some caches.
    key = salted_hmac("accounts.request_limits", what, algorithm="sha256").hexdigest()
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
