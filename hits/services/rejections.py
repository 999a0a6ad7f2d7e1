"""Rejections: asked for here, where what was paid already is known."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from annotate.models import Response
from hits.models import Assignment, AssignmentStatus
from hits.services.payments import counting_responses, lock_assignment
from qualcontrol.models import HeldOutcome, HeldPayment
from qualcontrol.services import CannotReject, end_hold, reject_response

WHY_NOT = {
    AssignmentStatus.APPROVED: "This assignment is already approved, and an approval is final.",
    AssignmentStatus.REJECTED: "This assignment is already rejected.",
}
UNDER_WAY = {
    AssignmentStatus.APPROVED: (
        "This assignment is being paid: the approval was sent to the marketplace, which has not "
        "confirmed it yet."
    ),
    AssignmentStatus.REJECTED: (
        "This assignment is being rejected: the rejection was sent to the marketplace, which "
        "has not confirmed it yet."
    ),
}


def refuse_if_decided(assignment: Assignment) -> None:
    """Raise CannotReject if the assignment is decided at the marketplace, or is being decided."""
    if why_not := WHY_NOT.get(AssignmentStatus(assignment.status)):
        raise CannotReject(why_not)
    if assignment.deciding:
        raise CannotReject(UNDER_WAY[AssignmentStatus(assignment.deciding)])


@transaction.atomic
def ask_for_rejection(*, response: Response, reason: str, actor: User, at: datetime) -> None:
    """Have the response's assignment rejected by the next sync.

    An assignment is rejected as a whole, so nothing of it may be in use. Raises CannotReject, also
    where its payment is under way, or ReasonMissing.
    """
    found = Assignment.objects.filter(responses=response).first()
    if found is None:
        raise CannotReject(
            "This response has no assignment at the marketplace, so there is nothing to reject."
        )
    assignment = lock_assignment(found.pk)
    refuse_if_decided(assignment)
    if counting_responses(assignment).exists():
        raise CannotReject(
            "Other responses of the same assignment are in use. Work that is used is paid."
        )
    reject_response(response=response, reason=reason, actor=actor, at=at)
    for held in HeldPayment.objects.open().filter(assignment=assignment.pk):
        end_hold(held=held, outcome=HeldOutcome.REJECT, at=at)
