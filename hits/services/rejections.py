"""Rejections: asked for here, where what was paid already is known."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotate.models import Response, ResponseStatus
from hits.models import Assignment, AssignmentStatus
from qualcontrol.services import CannotReject, reject_response


@transaction.atomic
def ask_for_rejection(*, response: Response, reason: str, actor: User, at: datetime) -> None:
    """Have the response's assignment rejected at the next reconciliation.

    An assignment is rejected as a whole, so nothing of it may be in use. Raises CannotReject, or
    ReasonMissing.
    """
    assignment = Assignment.objects.filter(claims__response=response).order_by("-pk").first()
    if assignment is None:
        raise CannotReject("This response was collected elsewhere; there is nothing to reject.")
    if assignment.status == AssignmentStatus.APPROVED:
        raise CannotReject("This assignment is approved already, and an approval is final.")
    if assignment.status == AssignmentStatus.REJECTED:
        raise CannotReject("This assignment is rejected already.")
    if counting_responses(assignment).exists():
        raise CannotReject(
            "Other responses of the same assignment are in use, and work that is used is paid."
        )
    reject_response(response=response, reason=reason, actor=actor, at=at)


def counting_responses(assignment: Assignment) -> QuerySet[Response]:
    """Responses of the assignment that count towards their tasks."""
    return Response.objects.filter(claim__assignments=assignment, status=ResponseStatus.SUBMITTED)
