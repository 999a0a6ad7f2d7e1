"""What holds for every request to the site, and every response."""

from collections.abc import Callable

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse

# Images may come from the dataset's host, everything else from this site. Browsers do not load http
# images on an https page, even though `http:` is listed.
POLICY = (
    "default-src 'self'; img-src 'self' data: https: http: {site}; object-src 'none'; "
    "base-uri 'none'; form-action 'self' {origins}"
)


class StorableAddressMiddleware:
    """Refuses addresses with a NUL character. No row has one, and PostgreSQL refuses it in a
    query."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            raise Http404("no address has a NUL character")
        return self.get_response(request)


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
