"""Gauges of background work, for the page of metrics."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from celery import current_app
from django.conf import settings
from django.db.models import Count, QuerySet
from kombu.exceptions import OperationalError
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from background.models import UNFINISHED, Failure, FailureSource, Job


class Gauges(Collector):
    """Jobs that are not over, and the length of Celery's queues."""

    def collect(self) -> Iterable[GaugeMetricFamily]:
        jobs = GaugeMetricFamily("jobs", "Jobs that are not over", labels=["status"])
        yield _counted(jobs, Job.objects.unfinished(), "status", UNFINISHED)
        failures = GaugeMetricFamily(
            "failures", "Background work that failed and waits for a person", labels=["source"]
        )
        yield _counted(failures, Failure.objects.open(), "source", FailureSource)
        if not settings.CELERY_TASK_ALWAYS_EAGER:
            # The other gauges matter most while the broker does not answer.
            with suppress(OperationalError):
                yield GaugeMetricFamily(
                    "celery_queue_length", "Tasks that wait for a Celery worker", queue_length()
                )


def _counted(
    gauge: GaugeMetricFamily, rows: QuerySet[Any], column: str, values: Iterable[str]
) -> GaugeMetricFamily:
    """The gauge with the number of rows for each value of the column."""
    counts = dict(rows.order_by().values_list(column).annotate(Count("pk")))
    for value in values:
        gauge.add_metric([value.lower()], counts.get(value, 0))
    return gauge


def check_broker() -> None:
    """Raise OperationalError if the broker is away. Without one, pages store work that other
    processes find."""
    if not settings.CELERY_TASK_ALWAYS_EAGER:
        queue_length()


def queue_length() -> int:
    """The number of tasks in Celery's queues; raises OperationalError if the broker is away."""
    with current_app.connection_for_read() as connection:
        connection.ensure_connection(max_retries=1, interval_start=0, timeout=2)
        channel: Any = connection.default_channel
        names = [queue.name for queue in current_app.conf.task_queues]
        return sum(channel.queue_declare(name, durable=True).message_count for name in names)
