"""An id, a measurement and an optional log line for each request."""

import logging
import os
import re
import time
import uuid
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from shared.environment import BothSites, read
from shared.logs import request_id
from shared.monitoring.metrics import REQUEST_SECONDS

log = logging.getLogger("requests_answered")
ID = re.compile(r"[\w-]{1,64}")
# Routes stand for addresses, which contain tokens and ids.
NO_ROUTE = "(none)"
# Clients can send any word as the method, and each would be a metric of its own.
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class RequestMonitor:
    """Gives each request an id, which its log entries and its response have, and measures it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.is_logging = read(BothSites).log_requests

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        mark = request_id.set(_id_of(request))
        began = time.perf_counter()
        try:
            response = self.get_response(request)
            response.headers["X-Request-Id"] = request_id.get()
            self._note(request, response.status_code, time.perf_counter() - began)
            return response
        finally:
            request_id.reset(mark)

    def _note(self, request: HttpRequest, status: int, seconds: float) -> None:
        match = request.resolver_match
        route = match.route if match else NO_ROUTE
        method = request.method if request.method in METHODS else "(other)"
        REQUEST_SECONDS.labels(method, route, str(status)).observe(seconds)
        if self.is_logging:
            fields = {
                "method": method,
                "route": route,
                "status": status,
                "milliseconds": round(1000 * seconds, 1),
                "process": os.getpid(),
            }
            log.info("%s %s %s", method, f"/{route}", status, extra={"fields": fields})


def _id_of(request: HttpRequest) -> str:
    """The id that the proxy gave the request, or a new one. Clients cannot choose it."""
    given = request.headers.get("X-Request-Id", "") if settings.BEHIND_PROXY else ""
    return given if ID.fullmatch(given) else uuid.uuid4().hex
