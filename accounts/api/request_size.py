"""Refuse requests that are too large before anything of them is read."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from accounts.pages.errors import too_large
from accounts.problems import is_api, problem_response

MEGABYTE = 1_000_000
# The limit for requests that upload no images. The evaluation server's files fit into it.
OTHERS_MAX_MB = 20


class RequestSizeMiddleware:
    """Answers requests whose Content-Length is over the limit of their address with status 413.

    It comes before the check of forms' tokens, which reads the whole form.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, _view: Any, _arguments: Any, _options: Any
    ) -> HttpResponse | None:
        """The refusal, or None to go on."""
        match = request.resolver_match
        is_upload = match is not None and match.view_name in settings.UPLOAD_ROUTES
        most = settings.UPLOAD_MAX_MB if is_upload else OTHERS_MAX_MB
        # One more, for the fields around the files.
        if int(request.META.get("CONTENT_LENGTH") or 0) <= (most + 1) * MEGABYTE:
            return None
        what, advice = ("upload", " Upload the files in parts.") if is_upload else ("request", "")
        reason = f"The {what} is larger than {most:,} MB, so nothing of it was read.{advice}"
        if is_api(request):
            return problem_response(413, reason, "too_large")
        return too_large(request, reason)
