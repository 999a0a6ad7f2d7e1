"""Request the rejection of assignments that are not decided yet."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from annotate.models import Response
from hits.models import Assignment, AssignmentStatus
from hits.services.payments import counting_responses, lock_assignment
from qualcontrol.models import HeldOutcome, HeldPayment
from qualcontrol.review.judging import reject_response
from qualcontrol.services.errors import CannotReject
from qualcontrol.services.held_payments import end_hold

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
    """Raise CannotReject if the assignment is decided, or a decision is being sent."""
    if why_not := WHY_NOT.get(AssignmentStatus(assignment.status)):
        raise CannotReject(why_not)
    if assignment.deciding:
        raise CannotReject(UNDER_WAY[AssignmentStatus(assignment.deciding)])


@transaction.atomic
def ask_for_rejection(*, response: Response, reason: str, actor: User, at: datetime) -> None:
    """Request that the next sync rejects the response's assignment; end its held payment, if any.

    Raises ReasonMissing, or CannotReject if the assignment is decided or is being decided. It is
    rejected as a whole, so CannotReject is also raised if any of its responses counts.
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
