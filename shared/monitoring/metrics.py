"""Metrics in the format of Prometheus."""

import os
import secrets
from functools import cache
from pathlib import Path

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
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
from prometheus_client.multiprocess import MultiProcessCollector

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
    text = generate_latest(_registry()) + generate_latest(_figures())
    return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)


def serve_metrics(address: str) -> None:
    """Serve the metrics of this process and its children at `HOST:PORT`; do nothing without one."""
    if address:
        if folder := os.environ.get(SEVERAL_PROCESSES):
            Path(folder).mkdir(parents=True, exist_ok=True)
        host, _, port = address.rpartition(":")
        start_http_server(int(port), host, _registry())


def _registry() -> CollectorRegistry:
    """What this process has counted, or all processes that share the folder."""
    if SEVERAL_PROCESSES not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


@cache
def _figures() -> CollectorRegistry:
    """Figures that are the same in each process, because they are in the database."""
    registry = CollectorRegistry()
    for name in settings.METRICS:
        registry.register(import_string(name)())
    return registry
