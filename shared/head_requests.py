"""Responses to HEAD requests."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase


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
