"""Gauges of the evaluation server, for the page of metrics."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily

from leaderboard.models import Submission, SubmissionStatus
from shared.metrics import counted, gauge


def gauges() -> Iterator[GaugeMetricFamily]:
    """Submissions that wait for their scores or get them now."""
    statuses = [SubmissionStatus.WAITING, SubmissionStatus.RUNNING]
    numbers = counted(Submission.objects.filter(status__in=statuses), "status", statuses)
    yield gauge("submissions", "Submissions without scores", "status", numbers)
