"""What a campaign costs: fees, what is spent, what is promised, and what is left.

Rates: AWS's pricing page as several repositories quote it (docs/decisions): 20 % of the reward,
a further 20 % from ten assignments on, 5 % more for Masters, at least one cent; cents are rounded
half up.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.conf import settings
from django.db.models import Case, Count, F, Q, QuerySet, Sum, When

from annotate.campaign_file import CampaignConfig
from annotate.models import Campaign, CampaignStatus, ResponseStatus
from annotate.services.campaigns import open_work
from hits.models import Assignment, AssignmentStatus, Bonus, Hit, HitStatus

CENT = Decimal("0.01")
ZERO = Decimal("0.00")
# Of a HIT: how many of its slots may still bring a submission.
OPEN_SLOTS = Case(
    When(status=HitStatus.PLANNED, then=F("slots")), default=F("available") + F("pending")
)


def fee_for(reward: Decimal, assignments: int = 1, *, masters: bool = False) -> Decimal:
    """The marketplace's fee for one payment of `reward` in a HIT of so many assignments, for
    everybody or for Masters only."""
    share = settings.MTURK_FEE_SHARE
    if assignments >= 10:
        share += settings.MTURK_LARGE_HIT_FEE_SHARE
    if masters:
        share += settings.MTURK_MASTERS_FEE_SHARE
    fee = (reward * share).quantize(CENT, rounding=ROUND_HALF_UP)
    return max(fee, settings.MTURK_LEAST_FEE)


def slot_fee(config: CampaignConfig) -> Decimal:
    """The fee for one assignment of such a campaign, in dollars."""
    return fee_for(config.hit.reward, config.hit.assignments, masters=config.workers.masters)


def slot_cost(campaign: Campaign) -> Decimal:
    """Reward and fee of one of the campaign's assignments, in dollars."""
    return campaign.config.hit.reward + slot_fee(campaign.config)


@dataclass(frozen=True)
class Spend:
    """Where a campaign's budget is, in dollars, fees included."""

    budget: Decimal
    paid: Decimal  # approved assignments, and those that were lost with their HITs
    owed: Decimal  # submitted assignments that wait for approval
    open: Decimal  # slots that are free, taken, or about to be created
    bonuses: Decimal  # sent, or about to be

    @property
    def committed(self) -> Decimal:
        """What may have to be paid if everybody who can still submit does."""
        return self.paid + self.owed + self.open + self.bonuses

    @property
    def left(self) -> Decimal:
        return self.budget - self.committed


def spend(campaign: Campaign) -> Spend:
    """The campaign's money now, from its own rows, in three queries."""
    return spends([campaign])[campaign.pk]


def spends(campaigns: Iterable[Campaign]) -> dict[int, Spend]:
    """Each campaign's money by its key, in three queries for any number of campaigns."""
    campaigns = list(campaigns)
    keys = [campaign.pk for campaign in campaigns]
    cost = F("hit__reward") + F("hit__fee")
    assignments = Assignment.objects.filter(hit__campaign__in=keys)
    # Nobody can tell whether what was lost with its HIT was paid.
    lost = Q(status=AssignmentStatus.LOST, hit__status=HitStatus.GONE)
    paid, owed = Q(status=AssignmentStatus.APPROVED) | lost, Q(status=AssignmentStatus.SUBMITTED)
    settled = _by_campaign(
        assignments, "hit__campaign", paid=Sum(cost, filter=paid), owed=Sum(cost, filter=owed)
    )
    hits = Hit.objects.filter(campaign__in=keys)
    open_slots = _by_campaign(hits, "campaign", open=Sum(OPEN_SLOTS * (F("reward") + F("fee"))))
    sent = Bonus.objects.filter(assignment__hit__campaign__in=keys)
    bonuses = _by_campaign(sent, "assignment__hit__campaign", bonuses=Sum(F("amount") + F("fee")))
    nothing = {"paid": ZERO, "owed": ZERO, "open": ZERO, "bonuses": ZERO}
    return {
        campaign.pk: Spend(
            budget=campaign.budget,
            **nothing
            | settled.get(campaign.pk, {})
            | open_slots.get(campaign.pk, {})
            | bonuses.get(campaign.pk, {}),
        )
        for campaign in campaigns
    }


def _by_campaign(rows: QuerySet[Any], campaign: str, **sums: Any) -> dict[int, dict[str, Decimal]]:
    """The sums in cents for each campaign that has such rows."""
    grouped = rows.order_by().values(campaign).annotate(**sums)
    return {
        row[campaign]: {name: (row[name] or ZERO).quantize(CENT) for name in sums}
        for row in grouped
    }


def outstanding_slots(campaign: Campaign) -> int:
    """Slots that may still bring a submission: planned, free, or taken."""
    return int(campaign.hits.aggregate(slots=Sum(OPEN_SLOTS, default=0))["slots"])


@dataclass(frozen=True)
class Shortfall:
    """What a budget lacks for the responses that are still missing, in dollars with fees."""

    responses: int
    left: Decimal
    to_add: Decimal
    is_used_up: bool  # nothing can be submitted any more

    def in_words(self, answers_name: str) -> str:
        what = "is used up" if self.is_used_up else "does not cover the rest of the campaign"
        return (
            f"The budget {what}. {answers_name.capitalize()} missing: {self.responses:,}. "
            f"Left: ${max(ZERO, self.left):,.2f}. Add at least ${self.to_add:,.2f}, including fees."
        )


def shortfall(campaign: Campaign, money: Spend) -> Shortfall | None:
    """What the budget lacks if everything that is promised is paid and nothing more is discarded;
    None where it suffices, and for a campaign that collects nothing now."""
    if campaign.status not in {CampaignStatus.RUNNING, CampaignStatus.PAUSED}:
        return None
    responses, cost = open_work(campaign).responses, slot_cost(campaign)
    slots = -(-responses // campaign.config.hit.images) - outstanding_slots(campaign)
    to_add = slots * cost - money.left
    if slots <= 0 or to_add <= 0:
        return None
    is_used_up = not money.open and money.left < cost
    return Shortfall(responses, money.left, to_add, is_used_up)


@dataclass(frozen=True)
class Estimate:
    """What a whole campaign will cost, before any of it is spent. Money in dollars."""

    tasks: int
    responses: int
    assignments: int
    hits: int
    reward: Decimal
    fee: Decimal
    rewards: Decimal
    fees: Decimal
    hours_of_work: float
    dollars_per_hour: Decimal

    @property
    def total(self) -> Decimal:
        return self.rewards + self.fees


# The time that one caption takes, where nothing was measured yet: $0.10 then pays $9 an hour.
SECONDS_PER_RESPONSE = 40


def estimate(campaign: Campaign, seconds: float = SECONDS_PER_RESPONSE) -> Estimate:
    """The cost of all the responses that the campaign has to collect, none of them discarded;
    `seconds` is the time that one response takes a worker."""
    config = campaign.config
    # What was collected elsewhere, without an assignment here, need not be collected again.
    is_collected = Q(responses__assignment=None, responses__status=ResponseStatus.SUBMITTED)
    missing = F("wanted") - Count("responses", filter=is_collected)
    unfinished = campaign.tasks.annotate(missing=missing).filter(missing__gt=0)
    responses = unfinished.aggregate(total=Sum("missing", default=0))["total"]
    assignments = -(-responses // config.hit.images)
    reward, fee = config.hit.reward, slot_fee(config)
    hourly = reward * 3600 / Decimal(seconds * config.hit.images)
    return Estimate(
        tasks=campaign.tasks.count(),
        responses=responses,
        assignments=assignments,
        hits=-(-assignments // config.hit.assignments),
        reward=reward,
        fee=fee,
        rewards=reward * assignments,
        fees=fee * assignments,
        hours_of_work=responses * seconds / 3600,
        dollars_per_hour=hourly.quantize(CENT),
    )
