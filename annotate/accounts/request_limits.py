"""Limits on requests by people who are not signed in.

Requests are counted in the site's cache, which each web process has for itself. Wrong passwords
have their own limits, in the database (`annotate.accounts.sign_in_limits`).
"""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.crypto import salted_hmac

from annotate.accounts.sign_in_limits import client_address

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
View = Callable[..., HttpResponse]


def is_over(what: str, most: int, *, per: timedelta = HOUR) -> bool:
    """Count one more of this, and return whether there were more than `most` in the time."""
    # A digest, because names and addresses are longer than the keys of some caches.
    key = salted_hmac("annotate.accounts.request_limits", what, algorithm="sha256").hexdigest()
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
            return _refused(request, message, HOUR)
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
            return _refused(request, message, MINUTE)
        return view(request, *arguments, **options)

    return limited


def _refused(request: HttpRequest, message: str, wait: timedelta) -> HttpResponse:
    problem = {"title": "Too many requests", "message": message}
    answer = render(request, "annotate/error.html", problem, status=429)
    answer.headers["Retry-After"] = str(int(wait.total_seconds()))
    return answer
