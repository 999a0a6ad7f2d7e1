"""Bonuses: written down first, sent by the reconciler's settling step."""

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
    """A bonus for an assignment, which the next sync sends; raises BonusNotPossible if it breaks
    the budget or says no reason."""
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
