"""Requests and their answers: clients' addresses, refusals, uploads, and both sites' middleware."""

import ipaddress
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

Handler = Callable[[HttpRequest], HttpResponseBase]


class Middleware:
    """A middleware of Django's; without its own `__call__` it changes nothing."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)


JSON = "application/json"
# Used in place of none, so that requests without an address share one limit.
UNKNOWN = "0.0.0.0"


def client_address(request: HttpRequest) -> str:
    """The address for which a client's requests count, or UNKNOWN.

    Behind a proxy this is the last address in X-Forwarded-For, which the proxy added; the client
    can forge the others. For IPv6 it is the /64 network, because one client can use any address in
    it.
    """
    address = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_PROXY:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
        address = forwarded.rpartition(",")[2].strip() or address
    parsed = _parsed(address)
    if parsed is None:
        return UNKNOWN
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((int(parsed), 64), strict=False).network_address)


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address. Some proxies append a port: 192.0.2.7:4711, [2001:db8::7]:4711."""
    for text in (address, address.rpartition(":")[0].strip("[]")):
        with suppress(ValueError):
            return ipaddress.ip_address(text)
    return None


def wants_json(request: HttpRequest) -> bool:
    """Whether the client prefers JSON to a page, as scripts say in the header Accept."""
    return request.get_preferred_type(["text/html", JSON]) == JSON


def refusal(
    request: HttpRequest, status: int, title: str, message: str, *, wait: timedelta | None = None
) -> HttpResponse:
    """A page of the site that says why; `wait` is the time until the request may be repeated."""
    context = {"title": title, "message": message}
    page = render(request, settings.REFUSAL_TEMPLATE, context, status=status)
    if wait is not None:
        page.headers["Retry-After"] = str(int(wait.total_seconds()))
    return page


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


class ContentSecurityPolicyMiddleware(Middleware):
    """Adds the site's policy to each response, unless its view has set one."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault(HEADER, content_policy())
        return response


class HeadMiddleware(Middleware):
    """Answers HEAD without a body.

    waitress would send the body, and the client would read it as the start of the next response.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method == "HEAD":
            if isinstance(response, StreamingHttpResponse):
                response.streaming_content = ()
            elif isinstance(response, HttpResponse):
                response.headers.setdefault("Content-Length", str(len(response.content)))
                response.content = b""
        return response


class StorableCookiesMiddleware(Middleware):
    """Ignores cookies with a NUL character, which a quoted cookie can have. No session has one."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent = request.COOKIES
        request.COOKIES = {name: text for name, text in sent.items() if "\0" not in text}
        return self.get_response(request)


class WellFormedMiddleware(Middleware):
    """Refuses addresses with a NUL character, and forms in another charset than UTF-8."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            raise Http404("no address has a NUL character")
        charset = (request.content_params or {}).get("charset", "utf-8")
        if request.content_type == "multipart/form-data" and charset.lower() != "utf-8":
            # Browsers only use UTF-8, and some Python codecs are not for text at all.
            raise BadRequest("A form must be in UTF-8.")
        return self.get_response(request)


class TemporaryFiles(TemporaryFileUploadHandler):
    """Django's handler, whose files have names of their own.

    Django's take the suffix of the uploaded file's name, and no file system has room for a long
    one.
    """

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        FileUploadHandler.new_file(self, *args, **kwargs)
        self.file = TemporaryUploadedFile(
            "upload", self.content_type, 0, self.charset, self.content_type_extra
        )
        self.file.name = self.file_name
