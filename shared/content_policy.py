"""The Content-Security-Policy of a site's pages."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

HEADER = "Content-Security-Policy"
# Scripts and styles come from this site only, and nobody frames its pages.
STRICT = {
    "default-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}


def content_policy(**sources: str) -> str:
    """The policy of the site's pages; `img_src="'self'"` replaces the sources of one directive.

    The settings have what differs from STRICT on all pages of the site, in CONTENT_POLICY.
    """
    own = {name.replace("_", "-"): text for name, text in sources.items()}
    policy = {**STRICT, **settings.CONTENT_POLICY, **own}
    return "; ".join(f"{name} {text}" for name, text in policy.items())


class ContentSecurityPolicyMiddleware:
    """Adds the site's policy to each response, unless its view has set one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault(HEADER, content_policy())
        return response
