"""Gauges of background work, for the page of metrics."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError
from prometheus_client.core import GaugeMetricFamily

from background.models import UNFINISHED, Failure, FailureSource, Job
from shared.metrics import counted, gauge


def gauges() -> Iterator[GaugeMetricFamily]:
    """Jobs that are not over, failures that wait, and the length of Celery's queues."""
    jobs = counted(Job.objects.unfinished(), "status", UNFINISHED)
    yield gauge("jobs", "Jobs that are not over", "status", jobs)
    failures = counted(Failure.objects.open(), "source", FailureSource)
    about = "Background work that failed and waits for a person"
    yield gauge("failures", about, "source", failures)
    if not settings.CELERY_TASK_ALWAYS_EAGER:
        # The other gauges matter most while the broker does not answer.
        with suppress(OperationalError):
            yield GaugeMetricFamily(
                "celery_queue_length", "Tasks that wait for a Celery worker", queue_length()
            )


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
