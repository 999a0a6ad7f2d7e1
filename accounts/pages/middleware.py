"""What holds for every request to the site, and every response."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware
from django.utils.http import escape_leading_slashes

from accounts.pages.signed_in import FORM_TEAM


class LastSlashMiddleware(CommonMiddleware):
    """Adds a missing last slash by a redirect that keeps the method and the body.

    After Django's own redirect (301), a program's POST becomes a GET.
    """

    def response_redirect_class(self, address: str) -> HttpResponsePermanentRedirect:  # type: ignore[override]
        return HttpResponsePermanentRedirect(address, preserve_request=True)

    def get_full_path_with_slash(self, request: HttpRequest) -> str:
        # Django's own refuses a POST while DEBUG is on, because its redirect would lose the body.
        return escape_leading_slashes(request.get_full_path(force_append_slash=True))


class FormTeamMiddleware:
    """Notes the team for which a posted form was shown, in `request.form_team`.

    It comes after the check of forms' tokens, so that a refused form is not read.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: Any, view: Any, *_: object) -> None:
        if request.method == "POST" and not getattr(view, "csrf_exempt", False):
            request.form_team = request.POST.get(FORM_TEAM)
