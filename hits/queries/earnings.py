"""What workers earned in a campaign."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Sum

from annotate.models import Campaign
from hits.models import Assignment, AssignmentStatus, Bonus

ZERO = Decimal("0.00")


@dataclass(frozen=True)
class Earnings:
    """Dollars without fees: of approved assignments, and of bonuses that were sent."""

    rewards: Decimal = ZERO
    bonuses: Decimal = ZERO
    assignments: int = 0


def earnings_of(campaign: Campaign, workers: Sequence[int]) -> dict[int, Earnings]:
    """Return {worker: Earnings} for those of the workers who earned something. Two queries."""
    approved = Assignment.objects.of(campaign).filter(
        status=AssignmentStatus.APPROVED, account__worker__in=workers
    )
    paid = approved.order_by().values_list("account__worker")
    rewards = {
        worker: (total, number)
        for worker, total, number in paid.annotate(total=Sum("hit__reward"), n=Count("*"))
    }
    sent = Bonus.objects.exclude(sent_at=None).filter(
        assignment__hit__campaign=campaign, assignment__account__worker__in=workers
    )
    bonuses = dict(
        sent.order_by().values_list("assignment__account__worker").annotate(Sum("amount"))
    )
    return {
        worker: Earnings(
            rewards.get(worker, (ZERO, 0))[0],
            bonuses.get(worker, ZERO),
            rewards.get(worker, (ZERO, 0))[1],
        )
        for worker in {*rewards, *bonuses}
    }
