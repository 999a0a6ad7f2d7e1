"""What is shown where nothing can be: to a browser a page, to a client of the API JSON."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views import defaults

NOT_FOUND = "There is no such page here, or it is not there any more."
STALE = (
    "This page was open for too long, or you signed in anew meanwhile. Nothing was done. Go back, "
    "reload the page, and try again."
)
FAILED = "Something went wrong on our side. What you submitted before is kept. Try again."
WRONG_HOST = (
    "The marketplace does not go by this host name. Whoever runs it sets MARKETPLACE_URL or "
    "MARKETPLACE_ALLOWED_HOSTS."
)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A host name or a form that is refused before any view looks at it."""
    if _is_call(request):
        return _json("UnknownOperationException", WRONG_HOST, 400)
    return defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Nothing of the site is at the address."""
    if _is_call(request):
        told = "Calls of the API are posted to the root of the marketplace's address."
        return _json("UnknownOperationException", told, 404)
    return _page(request, "Not found", NOT_FOUND, 404)


def stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form whose token is another session's."""
    return _page(request, "Reload the page", STALE, 403)


def server_error(request: HttpRequest) -> HttpResponse:
    """An error of ours; it is in the log."""
    return _page(request, "Something went wrong", FAILED, 500)


def _is_call(request: HttpRequest) -> bool:
    return "X-Amz-Target" in request.headers


def _json(type_name: str, message: str, status: int) -> JsonResponse:
    body: dict[str, Any] = {"__type": type_name, "Message": message, "message": message}
    return JsonResponse(body, status=status, content_type="application/x-amz-json-1.1")


def _page(request: HttpRequest, title: str, told: str, status: int) -> HttpResponse:
    context = {"title": title, "told": told}
    return render(request, "marketplace/not_possible.html", context, status=status)
