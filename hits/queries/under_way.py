"""The work of a campaign that is under way at the marketplace."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, F, Sum

from annotate.models import Campaign
from hits.models import Assignment, AssignmentStatus, HitStatus
from hits.queries.costs import CENT, OPEN_SLOTS, ZERO


@dataclass(frozen=True)
class WorkUnderWay:
    """Numbers of assignments, and what they cost in dollars with fees."""

    free: int  # nobody has accepted them
    free_cost: Decimal
    taken: int  # accepted, and not submitted at the last sync
    unpaid: int  # submitted, and not decided


def work_under_way(campaign: Campaign) -> WorkUnderWay:
    """Count the campaign's assignments that are free, taken or unpaid, in two queries."""
    alive = campaign.hits.filter(status__in=[HitStatus.PLANNED, HitStatus.OPEN, HitStatus.EXPIRED])
    free = OPEN_SLOTS - F("pending")
    counts = alive.aggregate(
        free=Sum(free, default=0),
        free_cost=Sum(free * (F("reward") + F("fee")), default=ZERO),
        taken=Sum("pending", default=0),
    )
    submitted = Assignment.objects.of(campaign).filter(status=AssignmentStatus.SUBMITTED)
    return WorkUnderWay(
        free=int(counts["free"]),
        free_cost=Decimal(counts["free_cost"]).quantize(CENT),
        taken=int(counts["taken"]),
        unpaid=submitted.aggregate(number=Count("pk"))["number"],
    )
