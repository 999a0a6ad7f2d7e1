"""Costs of campaigns: fees, money spent, reserved and left, and estimates.

The fee is 20 % of the reward, plus 20 % for HITs with ten or more assignments, plus 5 % for
Masters. It is rounded half up to cents and is at least one cent. The rates are from AWS's pricing
page, as quoted by several repositories (docs/decisions).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.conf import settings
from django.db.models import Case, Count, F, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Coalesce

from annotate.campaign_file import CampaignConfig, seconds_for
from annotate.models import Campaign, CampaignStatus, Response
from annotate.queries.progress import open_work, pages_for
from hits.models import Assignment, AssignmentStatus, Bonus, Hit, HitStatus

CENT = Decimal("0.01")
ZERO = Decimal("0.00")
# The federal minimum wage of the United States.
MINIMUM_WAGE = Decimal("7.25")


# Number of a HIT's slots that can still lead to a submission.
OPEN_SLOTS = Case(
    When(status=HitStatus.PLANNED, then=F("slots")), default=F("available") + F("pending")
)


def fee_for(reward: Decimal, assignments: int = 1, *, masters: bool = False) -> Decimal:
    """The marketplace's fee for one payment of `reward`.

    `assignments` is the number of assignments of the HIT. `masters` is true if only Masters can
    accept it. Nothing is paid, and no fee, for a reward of 0.
    """
    if not reward:
        return ZERO
    share = settings.MTURK_FEE_SHARE
    if assignments >= 10:
        share += settings.MTURK_LARGE_HIT_FEE_SHARE
    if masters:
        share += settings.MTURK_MASTERS_FEE_SHARE
    fee = (reward * share).quantize(CENT, rounding=ROUND_HALF_UP)
    return max(fee, settings.MTURK_LEAST_FEE)


def slot_fee(config: CampaignConfig) -> Decimal:
    """The fee for one assignment of a campaign with this file, in dollars."""
    return fee_for(config.hit.reward, config.hit.assignments, masters=config.workers.masters)


def slot_cost(config: CampaignConfig) -> Decimal:
    """The reward plus fee of one assignment of a campaign with this file, in dollars."""
    return config.hit.reward + slot_fee(config)


def per_hour(config: CampaignConfig, seconds: float) -> Decimal:
    """The pay in dollars per hour at this time for one response, of a second at least."""
    whole = Decimal(max(seconds, 1.0)) * config.hit.images
    return (config.hit.reward * 3600 / whole).quantize(CENT)


@dataclass(frozen=True)
class Spend:
    """How a campaign's budget is used, in dollars including fees."""

    budget: Decimal
    paid: Decimal  # approved assignments, and assignments lost with their HITs
    owed: Decimal  # submitted assignments that wait for approval
    open: Decimal  # slots that are free, taken, or about to be created
    bonuses: Decimal  # sent, or about to be sent

    @property
    def committed(self) -> Decimal:
        """The cost if everybody submits who still can."""
        return self.paid + self.owed + self.open + self.bonuses

    @property
    def left(self) -> Decimal:
        return self.budget - self.committed


def spend(campaign: Campaign) -> Spend:
    """How the campaign's budget is used now."""
    return spends([campaign])[campaign.pk]


def spends(campaigns: Iterable[Campaign]) -> dict[int, Spend]:
    """{primary key: Spend}. One query takes all of it from the same moment: between two, an
    assignment could take the place of a slot, and neither would be counted.

    A retired HIT has the number of its paid assignments, so only those of other HITs are read.
    """
    campaigns = list(campaigns)
    keys = [campaign.pk for campaign in campaigns]
    submitted = Q(status=AssignmentStatus.SUBMITTED)
    # An assignment lost with its HIT may have been paid, so it counts as paid.
    lost = Q(status=AssignmentStatus.LOST, hit__status=HitStatus.GONE, submission__lost_at=None)
    counted = submitted | Q(status=AssignmentStatus.APPROVED) | lost
    assignments = _numbers(
        Assignment.objects.filter(counted, hit__campaign__in=keys, hit__paid=None),
        "hit__campaign",
        state=Case(When(submitted, then=Value("owed")), default=Value("paid")),
        price=F("hit__reward") + F("hit__fee"),
        number=Count("pk"),
    )
    hits = _numbers(
        Hit.objects.filter(campaign__in=keys),
        "campaign",
        state=Case(When(paid=None, then=Value("open")), default=Value("paid")),
        price=F("reward") + F("fee"),
        number=Sum(Coalesce("paid", OPEN_SLOTS)),
    )
    bonuses = _numbers(
        Bonus.objects.not_given_up().filter(assignment__hit__campaign__in=keys),
        "assignment__hit__campaign",
        state=Value("bonuses"),
        price=F("amount") + F("fee"),
        number=Count("pk"),
    )
    sums: defaultdict[tuple[int, str], Decimal] = defaultdict(lambda: ZERO)
    for key, state, price, number in assignments.union(hits, bonuses, all=True):
        sums[key, state] += number * price.quantize(CENT)
    states = ("paid", "owed", "open", "bonuses")
    return {
        campaign.pk: Spend(campaign.budget, *(sums[campaign.pk, state] for state in states))
        for campaign in campaigns
    }


def _numbers(
    rows: QuerySet[Any], campaign: str, *, number: Count | Sum, **columns: Any
) -> QuerySet[Any, Any]:
    """The number of each campaign's rows by state and price. Most have the same price, so the
    database adds up no amounts."""
    by_price = rows.order_by().annotate(**columns).values_list(campaign, *columns)
    numbers: QuerySet[Any, Any] = by_price.annotate(number=number)
    return numbers


def most_slots(config: CampaignConfig, *, responses: int, tasks: int) -> int:
    """The largest number of slots that a new HIT may have, if this many responses are missing to
    this many tasks.

    A worker may take only one slot of a HIT, so a worker who does all tasks needs as many HITs.
    Therefore a HIT has no more slots than a task has places on average.
    """
    return max(1, min(config.hit.assignments, responses // max(1, tasks)))


def outstanding_slots(campaign: Campaign) -> int:
    """The number of slots that can still lead to a submission: planned, free or taken."""
    alive = campaign.hits.filter(paid=None)
    return int(alive.aggregate(slots=Sum(OPEN_SLOTS, default=0))["slots"])


@dataclass(frozen=True)
class Shortfall:
    """The money that a budget lacks for the missing responses, in dollars including fees."""

    responses: int
    left: Decimal
    to_add: Decimal
    is_used_up: bool  # no further response can be submitted

    def in_words(self, answers_name: str) -> str:
        state = "is used up" if self.is_used_up else "does not cover the rest of the campaign"
        return (
            f"The budget {state}. {answers_name.capitalize()} missing: {self.responses:,}. "
            f"Left: ${max(ZERO, self.left):,.2f}. Add at least ${self.to_add:,.2f}, including fees."
        )


def shortfall(campaign: Campaign, money: Spend) -> Shortfall | None:
    """The money that the budget lacks, or None if it suffices.

    Assumes that all committed money is paid and that no further response is discarded. Also None
    for drafts and finished campaigns, which collect no responses.
    """
    if campaign.status not in {CampaignStatus.RUNNING, CampaignStatus.PAUSED}:
        return None
    work, cost = open_work(campaign), slot_cost(campaign.config)
    slots = work.pages(campaign.config) - outstanding_slots(campaign)
    to_add = slots * cost - money.left
    if slots <= 0 or to_add <= 0:
        return None
    is_used_up = not money.open and money.left < cost
    return Shortfall(work.missing, money.left, to_add, is_used_up)


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of a whole campaign, in dollars."""

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


@dataclass(frozen=True)
class FamilyEstimate:
    """The estimates of the campaigns of the same images in all languages."""

    members: list[tuple[Campaign, Estimate]]

    @property
    def responses(self) -> int:
        return sum(cost.responses for _, cost in self.members)

    @property
    def assignments(self) -> int:
        return sum(cost.assignments for _, cost in self.members)

    @property
    def hits(self) -> int:
        return sum(cost.hits for _, cost in self.members)

    @property
    def total(self) -> Decimal:
        return sum((cost.total for _, cost in self.members), ZERO)

    @property
    def budget(self) -> Decimal:
        return sum((member.budget for member, _ in self.members), ZERO)


@dataclass(frozen=True)
class PanelEstimate:
    """The estimated cost of a campaign by Prolific, if participants earn the same rewards there."""

    rewards: Decimal
    fees: Decimal
    tax: Decimal
    per_hour: Decimal
    least_per_hour: Decimal

    @property
    def total(self) -> Decimal:
        return self.rewards + self.fees + self.tax

    @property
    def is_paid_enough(self) -> bool:
        return self.per_hour >= self.least_per_hour


def panel_estimate(cost: Estimate, *, per_hour: Decimal | None = None) -> PanelEstimate:
    """What the estimated work costs by Prolific, by the settings.

    Prolific rounds the fee of each payment, which changes the sums by some cents. `per_hour` is
    the pay at a measured time, in place of the estimate's.
    """
    fees = (cost.rewards * settings.PROLIFIC_SERVICE_FEE).quantize(CENT, ROUND_HALF_UP)
    return PanelEstimate(
        rewards=cost.rewards,
        fees=fees,
        tax=(fees * settings.PROLIFIC_VAT).quantize(CENT, ROUND_HALF_UP),
        per_hour=cost.dollars_per_hour if per_hour is None else per_hour,
        least_per_hour=settings.PROLIFIC_LEAST_PER_HOUR,
    )


def estimate(campaign: Campaign, seconds: float | None = None) -> Estimate:
    """The cost of all responses that the campaign must collect, if none is discarded.

    `seconds` is the time that a worker needs for one response, in place of the usual one.
    """
    tasks = campaign.tasks.order_by().values_list("wanted")
    lacking = Counter(dict(tasks.annotate(Count("pk"))))
    number = lacking.total()
    # Imported responses, which have no submission, need not be collected again.
    collected = Response.objects.of(campaign).counting().filter(submission=None).order_by()
    by_task = collected.values("task", "task__wanted").annotate(n=Count("pk"))
    for wanted, has in by_task.values_list("task__wanted", "n").iterator():
        lacking[wanted] -= 1
        lacking[max(0, wanted - has)] += 1
    return estimate_for(campaign.config, lacking=lacking, tasks=number, seconds=seconds)


def family_estimate(campaign: Campaign) -> FamilyEstimate | None:
    """The estimates of all languages; None for a campaign in one language."""
    if not campaign.family:
        return None
    members = Campaign.objects.family_of(campaign)
    return FamilyEstimate([(member, estimate(member)) for member in members])


def estimate_for(
    config: CampaignConfig,
    *,
    lacking: Mapping[int, int],
    tasks: int,
    seconds: float | None = None,
) -> Estimate:
    """The cost of {missing responses: tasks} to a campaign with this file and this number of
    `tasks`."""
    seconds = seconds_for(config.captions) if seconds is None else seconds
    responses = sum(lacks * number for lacks, number in lacking.items())
    unfinished = sum(number for lacks, number in lacking.items() if lacks)
    assignments = pages_for(lacking, config)
    reward, fee = config.hit.reward, slot_fee(config)
    return Estimate(
        tasks=tasks,
        responses=responses,
        assignments=assignments,
        hits=-(-assignments // most_slots(config, responses=responses, tasks=unfinished)),
        reward=reward,
        fee=fee,
        rewards=reward * assignments,
        fees=fee * assignments,
        hours_of_work=responses * seconds / 3600,
        dollars_per_hour=per_hour(config, seconds),
    )


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
