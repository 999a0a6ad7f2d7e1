"""Middleware: test hooks, https redirects, policies, hosts, malformed requests, sessions."""

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseNotFound,
    HttpResponsePermanentRedirect,
)
from django.middleware import security
from django.utils.functional import SimpleLazyObject
from django.utils.http import http_date

from marketplace import clock
from marketplace.services import rehearsals

from .policy import content_policy
from .problems import not_found
from .sessions import participation_of, worker_of

Handler = Callable[[HttpRequest], HttpResponse]
# Programs that watch the site ask its processes themselves, by any host name.
WATCHED_PATHS = ("/healthz", "/readyz", "/metrics")
FRAME_PATHS = ("/frames/", "/static/", *WATCHED_PATHS)


class RehearsalMiddleware:
    """Follows what test hooks have set in another process, and dates responses by the clock that
    they have set; does nothing without test hooks."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not settings.TEST_HOOKS:
            return self.get_response(request)
        rehearsals.follow()
        response = self.get_response(request)
        # Clients read the marketplace's time in this header, as they do at Mechanical Turk.
        response["Date"] = http_date(clock.now().timestamp())
        return response


class SecurityMiddleware(security.SecurityMiddleware):
    """Django's middleware, but redirects only browsers to https, not programs."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        # Without a proxy, the request's scheme is unknown, and redirects would never end. API
        # clients and health checks do not follow redirects, and a redirected form would lose its
        # fields.
        is_program = "X-Amz-Target" in request.headers or request.path in WATCHED_PATHS
        is_posted = request.method not in ("GET", "HEAD")
        if not settings.BEHIND_PROXY or is_program or is_posted:
            return None
        return super().process_request(request)


class ContentSecurityPolicyMiddleware:
    """Adds a strict Content-Security-Policy to responses without one."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if "Content-Security-Policy" not in response.headers:
            response.headers["Content-Security-Policy"] = content_policy()
        return response


class FrameHostMiddleware:
    """Serves HITs' own pages only on the frame host, and nothing else there, if there is one."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.MARKETPLACE_FRAME_URL:
            is_frame_host = request.get_host() == settings.MARKETPLACE_FRAME_HOST
            wants_frame = request.path.startswith("/frames/")
            if wants_frame and not is_frame_host:
                return HttpResponseNotFound("The pages of HITs are on another host.")
            if is_frame_host and not request.path.startswith(FRAME_PATHS):
                return HttpResponseNotFound("This host serves only the pages of HITs.")
        return self.get_response(request)


class WellFormedMiddleware:
    """Refuses malformed requests that would fail later in a view."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # No row contains a NUL, and PostgreSQL refuses it in a query.
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return not_found(request)
        charset = (request.content_params or {}).get("charset", "utf-8")
        if request.content_type == "multipart/form-data" and charset.lower() != "utf-8":
            # Browsers only use UTF-8, and some Python codecs are not for text at all.
            raise BadRequest("A form must be in UTF-8.")
        return self.get_response(request)


class SessionMiddleware:
    """Sets `request.worker` and `request.participation`; at most one of them is not None."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.worker = SimpleLazyObject(lambda: worker_of(request))  # type: ignore[attr-defined]
        request.participation = SimpleLazyObject(  # type: ignore[attr-defined]
            lambda: participation_of(request)
        )
        return self.get_response(request)
