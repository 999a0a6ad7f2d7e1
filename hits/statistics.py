"""Figures for the dashboard: when captions came in, and what an hour of work pays."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from statistics import median

from django.db.models import Count
from django.db.models.functions import TruncHour

from annotate.models import Campaign, Response, ResponseStatus

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


def responses_per_hour(campaign: Campaign, *, at: datetime, hours: int = 24) -> list[Hour]:
    """Submitted responses in each of the last hours, the earliest first; discarded ones too."""
    last = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    begins = [last - timedelta(hours=back) for back in reversed(range(hours))]
    counted = dict(
        Response.objects.of(campaign)
        .filter(
            status__in=[ResponseStatus.SUBMITTED, ResponseStatus.DISCARDED],
            submitted_at__gte=begins[0],
        )
        .values_list(TruncHour("submitted_at", tzinfo=UTC))
        .annotate(Count("pk"))
        .order_by()
    )
    return [Hour(begins_at=hour, responses=counted.get(hour, 0)) for hour in begins]


def measured_pay(campaign: Campaign) -> Pay | None:
    """Dollars per hour at the median time of the latest responses; None before the first."""
    seconds = list(
        Response.objects.of(campaign)
        .counting()
        .filter(seconds__gt=0)
        .order_by("-submitted_at")
        .values_list("seconds", flat=True)[:LATEST]
    )
    if not seconds:
        return None
    hit = campaign.config.hit
    middle = float(median(seconds))
    per_hour = hit.reward * 3600 / (Decimal(middle) * hit.images)
    return Pay(median_seconds=middle, per_hour=per_hour.quantize(CENT))
