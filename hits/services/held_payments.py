"""Payments that wait for a person: the decision about one, and what ends the wait without it.

Decided under the worker's lock, as every payment (`hits.services.payments`): while the wait lasts
nothing is paid, and once it has ended nobody can decide otherwise.
"""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from hits.services.payments import lock_assignment
from hits.services.rejections import refuse_if_decided
from qualcontrol.models import HeldOutcome, HeldPayment
from qualcontrol.services import accept_payment, refuse_payment


@transaction.atomic
def accept_held(*, held: HeldPayment, reason: str, actor: User, at: datetime) -> None:
    """Have the next sync pay a held assignment. Raises CannotReject or AlreadyDecided where it is
    decided."""
    refuse_if_decided(lock_assignment(held.assignment_id))
    accept_payment(held=held, reason=reason, actor=actor, at=at)


@transaction.atomic
def reject_held(*, held: HeldPayment, reason: str, actor: User, at: datetime) -> None:
    """Have the next sync reject a held assignment, with a reason that the worker reads. Raises
    CannotReject, AlreadyDecided, or ReasonMissing."""
    refuse_if_decided(lock_assignment(held.assignment_id))
    refuse_payment(held=held, reason=reason, actor=actor, at=at)


def lapse_held(*, assignment: int, at: datetime) -> None:
    """End the wait of an assignment about which the marketplace decided, as its automatic approval
    does, or that it does not have any more."""
    waiting = HeldPayment.objects.open().filter(assignment=assignment)
    waiting.update(outcome=HeldOutcome.LAPSED, ended_at=at)
