"""Headers of every page."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

# Images may be fetched from where the dataset keeps them; everything else is our own. A page that
# came by https shows no image by http, whatever this says.
POLICY = (
    "default-src 'self'; img-src 'self' data: https: http: {site}; object-src 'none'; "
    "base-uri 'none'; form-action 'self' {origins}"
)


class ContentSecurityPolicyMiddleware:
    """Gives each answer a Content-Security-Policy, unless its view has given one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault(
            "Content-Security-Policy",
            POLICY.format(site=settings.SITE_URL, origins="") + "; frame-ancestors 'none'",
        )
        return response
