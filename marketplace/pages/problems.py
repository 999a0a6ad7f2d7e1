"""Error pages: HTML for browsers, JSON for API clients."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views import defaults

from marketplace.errors import AssignmentClosed, DomainError, NothingToAccept, NotQualified
from marketplace.models import Study
from marketplace.pages.sessions import in_language_of_session
from shared.database.connections import (
    MESSAGE,
    RETRY_AFTER,
    STATUS,
    database_away_page,
    is_database_away,
)
from shared.requests import refusal, wants_json

NOT_FOUND = gettext_noop("Page not found.")
OUTSIDE_STUDY = gettext_noop(
    "This page is not part of your study. If you have an account of your own, sign in to use "
    "the rest of the site."
)
STALE = gettext_noop(
    "Nothing was changed, because this page was open for too long, or you have signed in again "
    "since. Go back, reload the page, and try again."
)
UNREADABLE = "The form could not be read, so nothing was changed. Go back, and send it again."
FAILED = "The server had an error. Everything that you submitted before is saved. Try again."
WRONG_HOST = (
    "This host name is not allowed. The marketplace's host can add it to MARKETPLACE_URL or "
    "MARKETPLACE_ALLOWED_HOSTS."
)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The response to a request with an invalid host name or form."""
    is_of_host = isinstance(exception, DisallowedHost)
    if _is_call(request):
        return _json("UnknownOperationException", WRONG_HOST, 400)
    if _is_of_a_program(request):
        return _error(WRONG_HOST if is_of_host else "The request could not be read.", 400)
    if is_of_host:
        return defaults.bad_request(request, exception)
    if wants_json(request):
        return JsonResponse({"outcome": "refused", "message": UNREADABLE}, status=400)
    return refusal(request, 400, "Not understood", UNREADABLE)


def not_found(request: HttpRequest, *_args: object, **_kwargs: object) -> HttpResponse:
    """The response for an unknown URL."""
    if _is_call(request):
        message = "Send API calls as POST requests to the root of the marketplace's address."
        return _json("UnknownOperationException", message, 404)
    if _is_of_a_program(request):
        return _error("There is nothing at this address.", 404)
    with in_language_of_session(request):
        return refusal(request, 404, _("Not found"), _(NOT_FOUND))


def outside_study(request: HttpRequest, study: Study) -> HttpResponse:
    """The response to a participant outside their study: a 404, or their study for the root."""
    if request.resolver_match and request.resolver_match.url_name == "groups":
        return redirect(study)
    return refusal(request, 404, _("Not part of your study"), _(OUTSIDE_STUDY))


def stale_form(request: HttpRequest, **_kwargs: object) -> HttpResponse:
    """The response to a form whose CSRF token belongs to another session."""
    with in_language_of_session(request):
        return refusal(request, 403, _("Reload the page"), _(STALE))


def server_error(request: HttpRequest) -> HttpResponse:
    """The response after an internal error, which is in the log."""
    is_away = is_database_away()
    if _is_of_a_program(request):
        if is_away:
            return _error(MESSAGE, STATUS, RETRY_AFTER)
        return _error(FAILED, 500)
    if is_away:
        return database_away_page()
    return refusal(request, 500, "Something went wrong", FAILED)


def wrong_method(request: HttpRequest, allowed: Sequence[str]) -> HttpResponse:
    """The response to an HTTP method that the URL does not support."""
    response: HttpResponse = HttpResponseNotAllowed(allowed)
    if _is_call(request):
        response = _json("UnknownOperationException", f"{request.method} is not supported.", 405)
        response.headers["Allow"] = ", ".join(allowed)
    return response


def _is_call(request: HttpRequest) -> bool:
    return "X-Amz-Target" in request.headers


def _is_of_a_program(request: HttpRequest) -> bool:
    """Whether it is for an address of `marketplace.api.people`."""
    return request.path_info.startswith("/people/")


def _error(message: str, status: int, headers: Mapping[str, str] | None = None) -> JsonResponse:
    return JsonResponse({"error": message}, status=status, headers=headers)


def _json(type_name: str, message: str, status: int) -> JsonResponse:
    body: dict[str, Any] = {"__type": type_name, "Message": message, "message": message}
    return JsonResponse(body, status=status, content_type="application/x-amz-json-1.1")


SENTENCES: dict[type[DomainError], str] = {
    NothingToAccept: gettext_noop("There are no tasks for you at the moment. Look again later."),
    NotQualified: gettext_noop("You cannot get a task now. Ask the person who invited you."),
    AssignmentClosed: gettext_noop(
        "This task is closed: it was sent or returned before, or its time is over. Nothing was "
        "changed."
    ),
}


def plainly(error: DomainError) -> str:
    """The error's sentence for people; its own message if that is written for them."""
    sentence = SENTENCES.get(type(error))
    return _(sentence) if sentence else str(error)
