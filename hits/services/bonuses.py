"""Plan bonuses, which the reconciler's settle step sends."""

from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.utils.crypto import get_random_string

from annotate.errors import DomainError
from annotate.models import Campaign
from hits.models import Assignment, Bonus
from hits.queries.costs import fee_for, spend


class BonusNotPossible(DomainError):
    """The bonus cannot be paid."""


@transaction.atomic
def plan_bonus(*, assignment: Assignment, amount: Decimal, reason: str, at: datetime) -> Bonus:
    """Plan a bonus for an assignment and return it; the next sync sends it.

    Raises BonusNotPossible if the reason is empty or the budget is too small.
    """
    if not reason.strip():
        raise BonusNotPossible("Enter a reason for the bonus: the worker will read it.")
    campaign = Campaign.objects.select_for_update().get(pk=assignment.hit.campaign_id)
    fee = fee_for(amount)
    if amount + fee > spend(campaign).left:
        raise BonusNotPossible(
            f"${amount} plus its fee of ${fee} is more than the budget has left."
        )
    return Bonus.objects.create(
        assignment=assignment,
        token=get_random_string(32),
        amount=amount,
        fee=fee,
        reason=reason.strip(),
        planned_at=at,
    )
