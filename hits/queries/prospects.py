"""What can be said of a campaign before it exists: pay, workers who qualify, and its images."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from statistics import median

from django.db.models import Count, Exists, OuterRef, Q

from accounts.models import Team
from annotate.campaign_file import CampaignConfig, Workers, seconds_for
from annotate.models import Box, Campaign, Selection
from hits.models import AssignmentStatus, WorkerAccount
from hits.queries.costs import per_hour
from hits.queries.statistics import latest_seconds

THUMBNAILS = 4
MOST_PILOTS = 3
# A campaign counts as a pilot if it has this many answers that took at least the time that a person
# needs.
LEAST_ANSWERS = 20
# Of workers with fewer submitted assignments, the approval rate counts as 100%.
RATE_COUNTS_FROM = 100
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
    number = accounts.count()
    if not workers.approved_hits and not workers.approval_rate:
        return Known(number, number)
    counts = accounts.annotate(
        approved=Count("assignments", filter=Q(assignments__status=AssignmentStatus.APPROVED)),
        rejected=Count("assignments", filter=Q(assignments__status=AssignmentStatus.REJECTED)),
        waiting=Count("assignments", filter=Q(assignments__status=AssignmentStatus.SUBMITTED)),
    )
    qualified = sum(
        approved >= workers.approved_hits
        and _approval_rate(approved, rejected, waiting) > workers.approval_rate
        for approved, rejected, waiting in counts.values_list("approved", "rejected", "waiting")
    )
    return Known(number, qualified)


def _approval_rate(approved: int, rejected: int, waiting: int) -> int:
    """The rate in whole per cent, as marketplaces count it."""
    decided = approved + rejected
    if not rejected or decided + waiting < RATE_COUNTS_FROM:
        return 100
    return approved * 100 // decided


@dataclass(frozen=True)
class Pilot:
    """How long the latest answers of a campaign took."""

    name: str
    # The median of the answers that took `least` seconds or more, and their number.
    seconds: float
    answers: int
    # Answers that took less time than a person needs, such as those of simulated workers.
    hasty: int
    least: float

    @property
    def total(self) -> int:
        return self.answers + self.hasty

    @property
    def is_enough(self) -> bool:
        """Whether the answers of people are enough, and are most of all."""
        return self.answers >= max(LEAST_ANSWERS, self.hasty)


@dataclass(frozen=True)
class HourlyPay:
    """Pay per hour at a time for one response, and where this time comes from."""

    pilot: Pilot | None  # None for the general estimate
    seconds: float
    per_hour: Decimal

    @property
    def source(self) -> str:
        return self.pilot.name if self.pilot else ""


def pilots(config: CampaignConfig, *, team: Team, at_endpoint: str) -> list[Pilot]:
    """The team's latest campaigns of the same task type that have timed answers, without those
    whose captions are half or twice as long."""
    candidates = Campaign.objects.of_team(team).filter(kind=config.kind, endpoint=at_endpoint)
    latest = candidates.order_by("-created_at", "-pk")[:MOST_LOOKED_AT]
    usual = seconds_for(config.captions)
    return [pilot for campaign in latest if (pilot := _pilot(campaign, usual))]


def _pilot(campaign: Campaign, usual: float) -> Pilot | None:
    """The campaign's times; None if it has none, or asks for captions of another length."""
    seconds = latest_seconds(campaign)
    if not seconds or not 0.5 < seconds_for(campaign.config.captions) / usual < 2:
        return None
    # The limit below which the campaign's answers are flagged as hasty.
    least = campaign.config.flags.seconds
    slow = [duration for duration in seconds if duration >= least]
    return Pilot(
        name=campaign.slug,
        seconds=float(median(slow)) if slow else 0.0,
        answers=len(slow),
        hasty=len(seconds) - len(slow),
        least=least,
    )


def hourly_pay(config: CampaignConfig, piloted: Sequence[Pilot]) -> list[HourlyPay]:
    """Pay per hour as in those of the pilots with enough answers, and by the general estimate,
    which comes last."""
    measured = islice((pilot for pilot in piloted if pilot.is_enough), MOST_PILOTS)
    usual = seconds_for(config.captions)
    return [
        *(HourlyPay(pilot, pilot.seconds, per_hour(config, pilot.seconds)) for pilot in measured),
        HourlyPay(None, usual, per_hour(config, usual)),
    ]


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
    images: dict[int, list[object]] = {key: [] for key in selections}
    for row in rows.order_by("position"):
        images[row.selection_id].append(row.image)
    return images
