"""Decide held payments, or end them without a decision.

As for every payment (`hits.services.payments`), the worker is locked for a decision. A held payment
is not paid before the decision, and is not decided twice.
"""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from hits.services.payments import lock_assignment
from hits.services.rejections import refuse_if_decided
from qualcontrol.models import HeldOutcome, HeldPayment
from qualcontrol.services.held_payments import accept_payment, refuse_payment


@transaction.atomic
def accept_held(*, held: HeldPayment, reason: str, actor: User, at: datetime) -> None:
    """Accept a held payment, which the next sync pays.

    Raises CannotReject or AlreadyDecided if the assignment or the payment is decided already.
    """
    refuse_if_decided(lock_assignment(held.assignment_id))
    accept_payment(held=held, reason=reason, actor=actor, at=at)


@transaction.atomic
def reject_held(*, held: HeldPayment, reason: str, actor: User, at: datetime) -> None:
    """Refuse a held payment; the next sync rejects the assignment. The worker reads the reason.

    Raises CannotReject or AlreadyDecided if it is decided already, or ReasonMissing.
    """
    refuse_if_decided(lock_assignment(held.assignment_id))
    refuse_payment(held=held, reason=reason, actor=actor, at=at)


def lapse_held(*, assignment: int, at: datetime) -> None:
    """End the held payment of an assignment, if any, without a decision.

    Used if the marketplace has decided, as by automatic approval, or has lost the assignment.
    """
    waiting = HeldPayment.objects.open().filter(assignment=assignment)
    waiting.update(outcome=HeldOutcome.LAPSED, ended_at=at)
