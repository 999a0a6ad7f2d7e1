"""Error pages."""

from django.http import HttpRequest, HttpResponse

from shared.refusals import refusal


def not_found(request: HttpRequest, *_: object, **__: object) -> HttpResponse:
    return refusal(request, 404, "Not found", "There is no page at this address.")


def forbidden(request: HttpRequest, exception: object = None, **_: object) -> HttpResponse:
    """The page for a refused request, with the sentence of the exception if it has one."""
    said = str(exception or "") or "Your account does not have permission to do this."
    return refusal(request, 403, "Not allowed", said)


def bad_request(request: HttpRequest, **_: object) -> HttpResponse:
    return refusal(request, 400, "Not understood", "This request is damaged or incomplete.")


def too_large(request: HttpRequest, reason: str) -> HttpResponse:
    return refusal(request, 413, "Too large", reason)


def stale_form(request: HttpRequest, **_: object) -> HttpResponse:
    """The page for a failed CSRF check, most often because the session has changed."""
    return refusal(
        request,
        403,
        "Form expired",
        "This form does not belong to your current session. Go back, reload the page and send it "
        "again. If that does not help, allow cookies for this site.",
    )
