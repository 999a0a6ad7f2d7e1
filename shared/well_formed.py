"""Requests with what no page can use, and a database might refuse.

PostgreSQL stores no NUL character, and refuses it in a query.
"""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

Handler = Callable[[HttpRequest], HttpResponseBase]


class StorableCookiesMiddleware:
    """Ignores cookies with a NUL character, which a quoted cookie can have. No session has one."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent = request.COOKIES
        request.COOKIES = {name: text for name, text in sent.items() if "\0" not in text}
        return self.get_response(request)


class WellFormedMiddleware:
    """Refuses addresses with a NUL character, and forms in another charset than UTF-8."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            raise Http404("no address has a NUL character")
        charset = (request.content_params or {}).get("charset", "utf-8")
        if request.content_type == "multipart/form-data" and charset.lower() != "utf-8":
            # Browsers only use UTF-8, and some Python codecs are not for text at all.
            raise BadRequest("A form must be in UTF-8.")
        return self.get_response(request)
