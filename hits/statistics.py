"""Figures for the dashboard: when captions came in, and what an hour of work pays."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from statistics import median

from django.db.models import Count, Exists, OuterRef, Sum
from django.db.models.functions import Greatest

from annotate.models import Campaign, Claim, Response, ResponseStatus, Task

CENT = Decimal("0.01")
# The latest responses say what the work takes now, and are as many for a campaign of any size.
LATEST = 1000


@dataclass(frozen=True)
class Hour:
    """The responses submitted in one hour."""

    begins_at: datetime
    responses: int


@dataclass(frozen=True)
class Pay:
    """What the work pays: the median time for one response, and dollars per hour at that pace."""

    median_seconds: float
    per_hour: Decimal


@dataclass(frozen=True)
class Overview:
    """A campaign's numbers as far as its tasks' places tell them."""

    tasks: int = 0
    wanted: int = 0
    answered: int = 0

    @property
    def share(self) -> float:
        return self.answered / self.wanted if self.wanted else 0.0


def overviews(campaigns: Iterable[Campaign]) -> dict[int, Overview]:
    """Each campaign's overview by its key, in two queries; no response is counted for it."""
    keys = [campaign.pk for campaign in campaigns]
    held = dict(
        Claim.objects.held()
        .filter(task__campaign__in=keys)
        .values_list("task__campaign")
        .annotate(Count("pk"))
    )
    rows = (
        Task.objects.filter(campaign__in=keys)
        .values_list("campaign")
        .annotate(Count("pk"), Sum("wanted"), places=Sum(Greatest("places_left", 0)))
    )
    found = {
        key: Overview(tasks, wanted, max(0, wanted - places - held.get(key, 0)))
        for key, tasks, wanted, places in rows
    }
    return {key: found.get(key, Overview()) for key in keys}


def responses_per_hour(campaign: Campaign, *, at: datetime, hours: int = 24) -> list[Hour]:
    """Submitted responses in each of the last hours, the earliest first; discarded ones too."""
    last = _whole_hour(at)
    begins = [last - timedelta(hours=back) for back in reversed(range(hours))]
    # In this form the database begins with the few responses of these hours, by their time.
    task = Task.objects.filter(pk=OuterRef("task"), campaign=campaign)
    times = Response.objects.filter(
        Exists(task),
        status__in=[ResponseStatus.SUBMITTED, ResponseStatus.DISCARDED],
        submitted_at__gte=begins[0],
    ).values_list("submitted_at", flat=True)
    # Counted here: SQLite calls back into Python to truncate a time, which takes longer.
    counted = Counter(_whole_hour(time) for time in times.iterator() if time is not None)
    return [Hour(begins_at=hour, responses=counted[hour]) for hour in begins]


def _whole_hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def measured_pay(campaign: Campaign) -> Pay | None:
    """Dollars per hour at the median time of the latest responses; None before the first."""
    latest = (
        Response.objects.of(campaign)
        .counting()
        .filter(seconds__gt=0)
        .order_by("-submitted_at")
        .values_list("seconds", flat=True)[:LATEST]
    )
    seconds = [value for value in latest if value is not None]
    if not seconds:
        return None
    hit = campaign.config.hit
    middle = float(median(seconds))
    per_hour = hit.reward * 3600 / (Decimal(middle) * hit.images)
    return Pay(median_seconds=middle, per_hour=per_hour.quantize(CENT))
