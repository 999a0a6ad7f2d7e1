"""What a campaign costs: fees, what is spent, what is promised, and what is left.

Rates: AWS's pricing page as several repositories quote it (docs/decisions): 20 % of the reward,
a further 20 % from ten assignments on, at least one cent; cents are rounded half up.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from django.conf import settings
from django.db.models import F, Sum

from annotate.models import Campaign
from hits.models import Assignment, AssignmentStatus, Bonus, HitStatus

CENT = Decimal("0.01")
ZERO = Decimal("0.00")


def fee_for(reward: Decimal, assignments: int = 1) -> Decimal:
    """The marketplace's fee for one payment of `reward` in a HIT of so many assignments."""
    share = settings.MTURK_FEE_SHARE
    if assignments >= 10:
        share += settings.MTURK_LARGE_HIT_FEE_SHARE
    fee = (reward * share).quantize(CENT, rounding=ROUND_HALF_UP)
    return max(fee, settings.MTURK_LEAST_FEE)


def seat_cost(campaign: Campaign) -> Decimal:
    """Reward and fee of one of the campaign's assignments, in dollars."""
    hit = campaign.config.hit
    return hit.reward + fee_for(hit.reward, hit.assignments)


@dataclass(frozen=True)
class Spend:
    """Where a campaign's budget is, in dollars, fees included."""

    budget: Decimal
    paid: Decimal  # approved assignments
    owed: Decimal  # submitted assignments that wait for approval
    open: Decimal  # seats that are free, taken, or about to be created
    bonuses: Decimal  # sent, or about to be

    @property
    def committed(self) -> Decimal:
        """What may have to be paid if everybody who can still submit does."""
        return self.paid + self.owed + self.open + self.bonuses

    @property
    def left(self) -> Decimal:
        return self.budget - self.committed


def spend(campaign: Campaign) -> Spend:
    """The campaign's money now, from its own rows, in four queries."""
    cost = F("hit__reward") + F("hit__fee")
    assignments = Assignment.objects.of(campaign)
    paid = assignments.filter(status=AssignmentStatus.APPROVED)
    owed = assignments.filter(status=AssignmentStatus.SUBMITTED)
    return Spend(
        budget=campaign.budget,
        paid=_total(paid.aggregate(total=Sum(cost))),
        owed=_total(owed.aggregate(total=Sum(cost))),
        open=_open_cost(campaign),
        bonuses=_total(
            Bonus.objects.filter(assignment__hit__campaign=campaign).aggregate(
                total=Sum(F("amount") + F("fee"))
            )
        ),
    )


def _open_cost(campaign: Campaign) -> Decimal:
    cost = F("reward") + F("fee")
    planned = campaign.hits.filter(status=HitStatus.PLANNED)
    return _total(planned.aggregate(total=Sum(F("seats") * cost))) + _total(
        campaign.hits.created().aggregate(total=Sum((F("available") + F("pending")) * cost))
    )


def _total(row: dict[str, Decimal | None]) -> Decimal:
    return (row["total"] or ZERO).quantize(CENT)


@dataclass(frozen=True)
class Estimate:
    """What a whole campaign will cost, before any of it is spent. Money in dollars."""

    images: int
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
    """The cost of all the campaign's responses, none of them discarded; `seconds` is the time
    that one response takes a worker."""
    config = campaign.config
    images = campaign.tasks.count()
    responses = campaign.tasks.aggregate(total=Sum("wanted"))["total"] or 0
    assignments = -(-responses // config.hit.images)
    reward, fee = config.hit.reward, fee_for(config.hit.reward, config.hit.assignments)
    hourly = reward * 3600 / Decimal(seconds * config.hit.images)
    return Estimate(
        images=images,
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
