"""Gauges of the marketplace, for the page of metrics."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily

from marketplace import clock
from marketplace.models import Assignment, AssignmentStatus, Event, Hit
from shared.metrics import counted, gauge


def gauges() -> Iterator[GaugeMetricFamily]:
    """Open HITs, assignments that nobody has decided, and notifications that wait."""
    open_hits = Hit.objects.open_at(clock.now()).count()
    yield GaugeMetricFamily("open_hits", "HITs that workers can accept", open_hits)
    undecided = [AssignmentStatus.ACCEPTED, AssignmentStatus.SUBMITTED]
    numbers = counted(Assignment.objects.filter(status__in=undecided), "status", undecided)
    yield gauge("assignments", "Assignments that are not decided", "status", numbers)
    waiting = Event.objects.exclude(due_at=None).count()
    yield GaugeMetricFamily("notifications", "Notifications that wait", waiting)
