"""Gauges of the marketplace, for the page of metrics."""

from collections.abc import Iterable

from django.db.models import Count
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from marketplace import clock
from marketplace.models import Assignment, AssignmentStatus, Event, Hit


class Gauges(Collector):
    """Open HITs, assignments that nobody has decided, and notifications that wait."""

    def collect(self) -> Iterable[GaugeMetricFamily]:
        open_hits = Hit.objects.open_at(clock.now()).count()
        yield GaugeMetricFamily("open_hits", "HITs that workers can accept", open_hits)
        assignments = GaugeMetricFamily(
            "assignments", "Assignments that are not decided", labels=["status"]
        )
        undecided = [AssignmentStatus.ACCEPTED, AssignmentStatus.SUBMITTED]
        rows = Assignment.objects.filter(status__in=undecided).order_by()
        counts = dict(rows.values_list("status").annotate(Count("pk")))
        for status in undecided:
            assignments.add_metric([status.lower()], counts.get(status, 0))
        yield assignments
        yield GaugeMetricFamily(
            "notifications", "Notifications that wait", Event.objects.exclude(due_at=None).count()
        )
