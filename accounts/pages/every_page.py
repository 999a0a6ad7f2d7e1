"""Middleware of every request, and template variables of every page."""

from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.middleware.common import CommonMiddleware
from django.shortcuts import render
from django.utils.http import escape_leading_slashes

from accounts.models import Right, Team
from accounts.pages.errors import too_large
from accounts.rights import FORM_TEAM, current_team, rights_in
from shared.requests import Middleware
from shared.version import software_version

MEGABYTE = 1_000_000
# The limit for requests that upload no images. The evaluation server's files fit into it.
OTHERS_MAX_MB = 20
STOP_POLLING = 286  # as htmx reads it


class LastSlashMiddleware(CommonMiddleware):
    """Adds a missing last slash by a redirect that keeps the method and the body.

    After Django's own redirect (301), a program's POST becomes a GET.
    """

    def response_redirect_class(self, address: str) -> HttpResponsePermanentRedirect:  # type: ignore[override]
        return HttpResponsePermanentRedirect(address, preserve_request=True)

    def get_full_path_with_slash(self, request: HttpRequest) -> str:
        # Django's own refuses a POST while DEBUG is on, because its redirect would lose the body.
        return escape_leading_slashes(request.get_full_path(force_append_slash=True))


class SignInMiddleware(LoginRequiredMiddleware):
    """Requires a sign-in, and lets browsers keep no page that does: *Back* shows none after signing
    out. A page that asks for a part of itself gets a message in place of the page to sign in."""

    def handle_no_permission(  # type: ignore[override]
        self, request: HttpRequest, view_func: Any
    ) -> HttpResponseBase:
        if request.headers.get("HX-Request") != "true":
            return super().handle_no_permission(request, view_func)
        answer = render(request, "accounts/signed_out.html", status=STOP_POLLING)
        answer.headers["HX-Reswap"] = "none"  # The message alone is swapped in.
        return answer

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        match = request.resolver_match
        if match is not None and getattr(match.func, "login_required", True):
            response.headers.setdefault("Cache-Control", "no-store")
        return response


class RequestSizeMiddleware(Middleware):
    """Answers requests whose Content-Length is over the limit of their address with status 413.

    It comes before the check of forms' tokens, which reads the whole form.
    """

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
        return too_large(request, reason)


class FormTeamMiddleware(Middleware):
    """Notes the team for which a posted form was shown, in `request.form_team`.

    It refuses a signed-in user's form with a NUL character, which nobody can type and PostgreSQL
    does not take, even in a query. It comes after the check of forms' tokens, so that a refused
    form is not read.
    """

    def process_view(self, request: Any, view: Any, *_: object) -> None:
        if request.method == "POST" and not getattr(view, "csrf_exempt", False):
            request.form_team = request.POST.get(FORM_TEAM)
            has_nul = any("\0" in text for _, texts in request.POST.lists() for text in texts)
            if has_nul and request.user.is_authenticated:
                raise BadRequest("A form must have no NUL characters.")


def installation(_request: HttpRequest) -> dict[str, str]:
    """The marketplace that this site uses, for the badge on every page, and the site's version."""
    return {"mturk_endpoint": settings.MTURK_ENDPOINT, "version": software_version()}


class May:
    """The rights of the request's user, for templates: `{% if may.manage %}`.

    They are the rights in the team whose campaign or release the page shows, or else in the current
    team. The names are those of `Right`, in small letters.
    """

    def __init__(self, request: HttpRequest) -> None:
        self.request: Any = request

    def __getitem__(self, name: str) -> bool:
        if not getattr(self.request, "user", None):
            return False
        rights = getattr(self.request, "rights", None)
        if rights is None:
            rights = rights_in(self.request, current_team(self.request))
        return Right[name.upper()] in rights


def team(request: HttpRequest) -> dict[str, Any]:
    """For templates: the user's rights as `may`, and the current team as
    `current_team`."""
    return {"may": May(request), "current_team": lambda: _team(request)}


def _team(request: HttpRequest) -> Team | None:
    return current_team(request) if getattr(request, "user", None) else None
