"""What every page of the site has: a content security policy, and the signed-in worker."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from marketplace.models import Worker

Handler = Callable[[HttpRequest], HttpResponse]
SESSION_KEY = "worker_id"


class ContentSecurityPolicyMiddleware:
    """Sends a strict policy with every answer that does not bring one of its own."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        # Tasks are framed from anywhere by https, and from this machine without.
        frames = " ".join(f"http://{host}:*" for host in settings.MTURK_HTTP_HOSTS)
        self.policy = (
            "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
            f"frame-ancestors 'self'; frame-src 'self' https: {frames}"
        )

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", self.policy)
        return response


class SignedInWorkerMiddleware:
    """Puts `request.worker`, the signed-in worker or None, on every request."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.worker = SimpleLazyObject(lambda: _worker_of(request))  # type: ignore[attr-defined]
        return self.get_response(request)


def _worker_of(request: HttpRequest) -> Worker | None:
    pk = request.session.get(SESSION_KEY)
    return Worker.objects.filter(pk=pk).first() if pk else None
