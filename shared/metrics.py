"""Metrics in the format of Prometheus; an id, a measurement and an optional log line a request."""

import logging
import os
import re
import secrets
import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Histogram,
    generate_latest,
    start_http_server,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from shared.logs import request_id
from shared.requests import Middleware

log = logging.getLogger(__name__)
SEVERAL_PROCESSES = "PROMETHEUS_MULTIPROC_DIR"
REQUEST_SECONDS = Histogram(
    "http_request_seconds",
    "Seconds until a request was answered",
    ["method", "route", "status"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)


@require_safe
@login_not_required
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """All metrics, for programs that know METRICS_TOKEN; without a token there is no such page."""
    expected = f"Bearer {settings.METRICS_TOKEN}".encode()
    given = request.headers.get("Authorization", "").encode()
    if not settings.METRICS_TOKEN or not secrets.compare_digest(given, expected):
        return HttpResponseNotFound("Not found.", content_type="text/plain")
    text = generate_latest(_registry()) + generate_latest(_Gauges())
    return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)


def serve_metrics(address: str) -> None:
    """Serve the metrics of this process and its children at `HOST:PORT`; do nothing without one.

    A process whose address is taken continues without metrics: its work matters more.
    """
    if not address:
        return
    if folder := os.environ.get(SEVERAL_PROCESSES):
        Path(folder).mkdir(parents=True, exist_ok=True)
    host, _, port = address.rpartition(":")
    try:
        start_http_server(int(port), host.strip("[]"), _registry())
    except OSError as error:
        log.warning("No metrics are served at METRICS_ADDRESS=%s: %s", address, error)


def _registry() -> CollectorRegistry:
    """What this process has counted, or all processes that share the folder."""
    if SEVERAL_PROCESSES not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


class _Gauges(Collector):
    """The gauges of METRICS, which are the same in each process: they are in the database."""

    def collect(self) -> Iterable[GaugeMetricFamily]:
        for name in settings.METRICS:
            yield from import_string(name)()


def gauge(name: str, about: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    """A gauge with a number for each value of the label."""
    family = GaugeMetricFamily(name, about, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def counted(rows: QuerySet[Any], column: str, values: Iterable[str]) -> dict[str, int]:
    """The number of rows by each of these values of the column, which are in small letters."""
    counts = dict(rows.order_by().values_list(column).annotate(Count("pk")))
    return {value.lower(): counts.get(value, 0) for value in values}


requests_answered = logging.getLogger("requests_answered")
ID = re.compile(r"[\w-]{1,64}")
# Routes stand for addresses, which contain tokens and ids.
NO_ROUTE = "(none)"
# Clients can send any word as the method, and each would be a metric of its own.
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class RequestMonitor(Middleware):
    """Gives each request an id, which its log entries and its response have, and measures it."""

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
        if settings.LOG_REQUESTS:
            fields = {
                "method": method,
                "route": route,
                "status": status,
                "milliseconds": round(1000 * seconds, 1),
                "process": os.getpid(),
            }
            requests_answered.info(
                "%s %s %s", method, f"/{route}", status, extra={"fields": fields}
            )


def _id_of(request: HttpRequest) -> str:
    """The id that the proxy gave the request, or a new one. Clients cannot choose it."""
    given = request.headers.get("X-Request-Id", "") if settings.BEHIND_PROXY else ""
    return given if ID.fullmatch(given) else uuid.uuid4().hex
