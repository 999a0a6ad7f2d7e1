"""What can be said of a campaign before it exists: pay, workers who qualify, and its images."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from django.db.models import Count, Exists, OuterRef, Q

from annotate.campaign_file import CampaignConfig, Workers
from annotate.models import Box, Campaign, Selection, Team
from hits.models import AssignmentStatus, WorkerAccount
from hits.queries.costs import CENT, SECONDS_PER_RESPONSE
from hits.queries.statistics import measured_pay

THUMBNAILS = 4
MOST_PILOTS = 3
# Campaigns that are looked at for a pilot, the latest first.
MOST_LOOKED_AT = 20


@dataclass(frozen=True)
class Known:
    """The workers that this site knows at a marketplace, and how many of them qualify by the
    site's own records."""

    workers: int
    qualified: int


def known_workers_at(endpoint: str, workers: Workers) -> Known:
    """Count the known workers, and those who meet the numbers of the requirements.

    The marketplace alone knows a worker's country, Masters, and work for other requesters.
    """
    accounts = WorkerAccount.objects.filter(endpoint=endpoint)
    known = accounts.count()
    if not workers.approved_hits and not workers.approval_rate:
        return Known(known, known)
    approved = Count("assignments", filter=Q(assignments__status=AssignmentStatus.APPROVED))
    rejected = Count("assignments", filter=Q(assignments__status=AssignmentStatus.REJECTED))
    counts = accounts.annotate(approved=approved, rejected=rejected)
    qualified = sum(
        approved >= workers.approved_hits
        and approved * 100 > workers.approval_rate * (approved + rejected)
        for approved, rejected in counts.values_list("approved", "rejected")
    )
    return Known(known, qualified)


@dataclass(frozen=True)
class HourlyPay:
    """Pay per hour at a time for one response, and where this time comes from."""

    source: str  # a campaign's name; empty for the general estimate
    seconds: float
    per_hour: Decimal


def hourly_pay(config: CampaignConfig, *, team: Team, at_endpoint: str) -> list[HourlyPay]:
    """Pay per hour as in the team's latest campaigns of the same task type that measured it, and by
    the general estimate, which comes last."""
    candidates = Campaign.objects.of_team(team).filter(kind=config.kind, endpoint=at_endpoint)
    latest = candidates.order_by("-created_at", "-pk")[:MOST_LOOKED_AT]
    measured = (
        (found.slug, pay.median_seconds) for found in latest if (pay := measured_pay(found))
    )
    return [
        HourlyPay(source, seconds, per_hour(config, seconds))
        for source, seconds in [
            *islice(measured, MOST_PILOTS),
            ("", float(SECONDS_PER_RESPONSE)),
        ]
    ]


def per_hour(config: CampaignConfig, seconds: float) -> Decimal:
    whole = Decimal(max(seconds, 1.0)) * config.hit.images
    return (config.hit.reward * 3600 / whole).quantize(CENT)


def selections_to_choose(team: Team) -> Iterable[Selection]:
    """The team's selections, the latest first, with `images_count` and `has_classes`."""
    boxes = Box.objects.verified().filter(image__selections=OuterRef("pk"))
    own = Selection.objects.of_team(team)
    rows = own.annotate(images_count=Count("selected"), has_classes=Exists(boxes))
    return rows.order_by("-created_at", "-pk")


def first_images(selections: Collection[int]) -> dict[int, list[object]]:
    """The first images of each selection, for thumbnails."""
    through = Selection.images.through
    rows = through._default_manager.filter(
        selection__in=selections, position__lte=THUMBNAILS
    ).select_related("image")
    found: dict[int, list[object]] = {key: [] for key in selections}
    for row in rows.order_by("position"):
        found[row.selection_id].append(row.image)
    return found


def has_classes(selection: str, team: Team) -> bool:
    """Whether an image of the selection has a class that workers could see as a keyword."""
    own = Selection.objects.of_team(team).filter(name=selection)
    return Box.objects.verified().filter(image__selections__in=own).exists()
