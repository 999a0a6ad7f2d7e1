"""Middleware: test hooks, https redirects, hosts, sessions."""

from django.conf import settings
from django.http import HttpRequest, HttpResponseNotFound, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.middleware import security
from django.utils.functional import SimpleLazyObject
from django.utils.http import http_date

from marketplace import clock
from marketplace.pages.sessions import participation_of, worker_of
from marketplace.services import rehearsals
from shared.requests import Middleware

# Programs that watch the site ask its processes themselves, by any host name.
WATCHED_PATHS = ("/healthz", "/readyz", "/metrics")
FRAME_PATHS = ("/frames/", "/static/", *WATCHED_PATHS)


class RehearsalMiddleware(Middleware):
    """Follows what test hooks have set in another process, and dates responses by the clock that
    they have set; does nothing without test hooks."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
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


class FrameHostMiddleware(Middleware):
    """Serves HITs' own pages only on the frame host, and nothing else there, if there is one."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if settings.MARKETPLACE_FRAME_URL:
            is_frame_host = request.get_host() == settings.MARKETPLACE_FRAME_HOST
            wants_frame = request.path.startswith("/frames/")
            if wants_frame and not is_frame_host:
                return HttpResponseNotFound("The pages of HITs are on another host.")
            if is_frame_host and not request.path.startswith(FRAME_PATHS):
                return HttpResponseNotFound("This host serves only the pages of HITs.")
        return self.get_response(request)


class SessionMiddleware(Middleware):
    """Sets `request.worker` and `request.participation`; at most one of them is not None."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request.worker = SimpleLazyObject(lambda: worker_of(request))  # type: ignore[attr-defined]
        request.participation = SimpleLazyObject(  # type: ignore[attr-defined]
            lambda: participation_of(request)
        )
        return self.get_response(request)
