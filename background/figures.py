"""Figures of background work, for the page of metrics."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from celery import current_app
from django.conf import settings
from django.db.models import Count
from kombu.exceptions import OperationalError
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from background.models import Failure, FailureSource, Job, JobStatus


class Figures(Collector):
    """Jobs that are not over, and the length of Celery's queues."""

    def collect(self) -> Iterable[GaugeMetricFamily]:
        jobs = GaugeMetricFamily("jobs", "Jobs that are not over", labels=["status"])
        counts = dict(
            Job.objects.unfinished().values_list("status").order_by().annotate(Count("pk"))
        )
        for status in (JobStatus.WAITING, JobStatus.RUNNING):
            jobs.add_metric([status.lower()], counts.get(status, 0))
        yield jobs
        failures = GaugeMetricFamily(
            "failures", "Background work that failed and waits for a person", labels=["source"]
        )
        open_ones = Failure.objects.open().order_by().values_list("source")
        failed = dict(open_ones.annotate(Count("pk")))
        for source in FailureSource:
            failures.add_metric([source.lower()], failed.get(source, 0))
        yield failures
        if not settings.CELERY_TASK_ALWAYS_EAGER:
            # The other figures matter most while the broker does not answer.
            with suppress(OperationalError):
                yield GaugeMetricFamily(
                    "celery_queue_length", "Tasks that wait for a Celery worker", queue_length()
                )


def queue_length() -> int:
    """The number of tasks in Celery's queues; raises OperationalError if the broker is away."""
    with current_app.connection_for_read() as connection:
        connection.ensure_connection(max_retries=1, interval_start=0, timeout=2)
        channel: Any = connection.default_channel
        names = [queue.name for queue in current_app.conf.task_queues]
        return sum(channel.queue_declare(name, durable=True).message_count for name in names)
