"""What every page of the site has: a content security policy, and the signed-in worker."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.utils.functional import SimpleLazyObject

from marketplace.models import Worker

from .policy import content_policy

Handler = Callable[[HttpRequest], HttpResponse]
SESSION_KEY = "worker_id"
SIGN_IN_NUMBER_KEY = "sign_in_number"
FRAME_PATHS = ("/frames/", "/static/", "/healthz")


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
                return HttpResponseNotFound("HITs' own pages are on another host.")
            if is_frame_host and not request.path.startswith(FRAME_PATHS):
                return HttpResponseNotFound("This host serves HITs' own pages only.")
        return self.get_response(request)


class SignedInWorkerMiddleware:
    """Puts `request.worker`, the signed-in worker or None, on every request."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.worker = SimpleLazyObject(lambda: _worker_of(request))  # type: ignore[attr-defined]
        return self.get_response(request)


def _worker_of(request: HttpRequest) -> Worker | None:
    pk = request.session.get(SESSION_KEY)
    if not pk:
        return None
    number = request.session.get(SIGN_IN_NUMBER_KEY, 0)
    return Worker.objects.filter(pk=pk, sign_in_number=number).first()
