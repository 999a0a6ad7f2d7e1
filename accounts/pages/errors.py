"""Answers without a view: error pages, and problem details in the API."""

from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.views import defaults

from accounts.problems import is_api, problem_response
from shared.database import connections
from shared.requests import refusal


def not_found(request: HttpRequest, *_: object, **__: object) -> HttpResponse:
    """The site's handler404."""
    if is_api(request):
        return problem_response(404, "There is nothing at this address.", "not_found")
    return refusal(request, 404, "Not found", "There is no page at this address.")


def forbidden(request: HttpRequest, exception: object = None, **_: object) -> HttpResponse:
    """The site's handler403, with the sentence of the exception if it has one."""
    said = str(exception or "") or "Your account does not have permission to do this."
    if is_api(request):
        return problem_response(403, said, "permission_denied")
    return refusal(request, 403, "Not allowed", said)


def bad_request(request: HttpRequest, exception: object = None, **_: object) -> HttpResponse:
    """The site's handler400."""
    if is_api(request) or not hasattr(request, "user"):
        return problem_response(400, "The request could not be read.", "bad_request")
    if isinstance(exception, RequestDataTooBig):
        return too_large(request, "The entries of this form are too long together.")
    message = "This request is damaged or incomplete. Load the page again, and repeat it."
    return refusal(request, 400, "Not understood", message)


def too_large(request: HttpRequest, reason: str) -> HttpResponse:
    if is_api(request):
        return problem_response(413, reason, "too_large")
    return refusal(request, 413, "Too large", reason)


def failed(request: HttpRequest) -> HttpResponse:
    """The site's handler500."""
    if connections.is_database_away():
        return _database_away(request)
    if is_api(request):
        detail = "The site failed. Try again; if it fails again, tell the operator the time."
        return problem_response(500, detail, "error")
    return defaults.server_error(request)


def _database_away(request: HttpRequest) -> HttpResponse:
    if not is_api(request):
        return connections.database_away_page()
    return problem_response(
        connections.STATUS, connections.MESSAGE, "database_away", connections.RETRY_AFTER
    )


def stale_form(request: HttpRequest, **_: Any) -> HttpResponse:
    """The page for a failed CSRF check, most often because the session has changed."""
    return refusal(
        request,
        403,
        "Form expired",
        "This form does not belong to your current session. Go back, reload the page and send it "
        "again. If that does not help, allow cookies for this site.",
    )
