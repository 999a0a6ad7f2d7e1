"""Changes to every response of the site."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

# Images may come from the dataset's host, everything else from this site. Browsers do not load http
# images on an https page, even though `http:` is listed.
POLICY = (
    "default-src 'self'; img-src 'self' data: https: http: {site}; object-src 'none'; "
    "base-uri 'none'; form-action 'self' {origins}"
)


class ContentSecurityPolicyMiddleware:
    """Adds a Content-Security-Policy to each response, unless its view has set one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault(
            "Content-Security-Policy",
            POLICY.format(site=settings.SITE_URL, origins="") + "; frame-ancestors 'none'",
        )
        return response


class HeadMiddleware:
    """Answers HEAD without a body.

    waitress would send the body, and the client would read it as the start of the next response.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method == "HEAD":
            if isinstance(response, StreamingHttpResponse):
                response.streaming_content = ()
            elif isinstance(response, HttpResponse):
                response.headers.setdefault("Content-Length", str(len(response.content)))
                response.content = b""
        return response
