"""Gauges of the evaluation server, for the page of metrics."""

from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from leaderboard.models import Submission


class Gauges(Collector):
    """Submissions that wait for their scores or get them now."""

    def collect(self) -> Iterable[GaugeMetricFamily]:
        gauge = GaugeMetricFamily("submissions", "Submissions without scores", labels=["status"])
        gauge.add_metric(["waiting"], Submission.objects.waiting().count())
        gauge.add_metric(["running"], Submission.objects.running().count())
        yield gauge
