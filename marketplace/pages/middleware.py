"""What every page of the site has: a content security policy, and whose session it is."""

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

from .policy import content_policy
from .problems import not_found
from .sessions import participation_of, worker_of

Handler = Callable[[HttpRequest], HttpResponse]
FRAME_PATHS = ("/frames/", "/static/", "/healthz")


class SecurityMiddleware(security.SecurityMiddleware):
    """Django's, which sends browsers from http to https, and leaves programs alone."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        # Without a proxy's word nobody knows how a request came, and all would go in circles.
        # Programs that sign calls, or look whether the site answers, follow no redirect, and a
        # form that was posted would lose its fields.
        is_program = "X-Amz-Target" in request.headers or request.path == "/healthz"
        is_posted = request.method not in ("GET", "HEAD")
        if not settings.BEHIND_PROXY or is_program or is_posted:
            return None
        return super().process_request(request)


class ContentSecurityPolicyMiddleware:
    """Sends a strict policy with every answer that does not bring one of its own."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if "Content-Security-Policy" not in response.headers:
            response.headers["Content-Security-Policy"] = content_policy()
        return response


class FrameHostMiddleware:
    """Keeps apart what the two hosts serve, where HITs' own pages have a host to themselves."""

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
    """Answers requests that no page could read."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # No row can be found by a NUL, and PostgreSQL takes none.
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return not_found(request)
        charset = (request.content_params or {}).get("charset", "utf-8")
        if request.content_type == "multipart/form-data" and charset.lower() != "utf-8":
            # Browsers send no other, and some of Python's are for anything but text.
            raise BadRequest("A form must be in UTF-8.")
        return self.get_response(request)


class SessionMiddleware:
    """Puts `request.worker` and `request.participation` on every request; at most one is there."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.worker = SimpleLazyObject(lambda: worker_of(request))  # type: ignore[attr-defined]
        request.participation = SimpleLazyObject(  # type: ignore[attr-defined]
            lambda: participation_of(request)
        )
        return self.get_response(request)
