"""The page for a request that is refused."""

from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def refusal(
    request: HttpRequest, status: int, title: str, message: str, *, wait: timedelta | None = None
) -> HttpResponse:
    """A page of the site that says why; `wait` is the time until the request may be repeated."""
    context = {"title": title, "message": message}
    page = render(request, settings.REFUSAL_TEMPLATE, context, status=status)
    if wait is not None:
        page.headers["Retry-After"] = str(int(wait.total_seconds()))
    return page
