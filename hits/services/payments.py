"""Decide whether to approve or reject submitted assignments.

A decision is stored, with the worker locked, before the call to the marketplace. Therefore nobody
can reject an assignment that is being paid, and an assignment whose rejection was requested before
that is not paid. If the process is killed during the call, the next sync carries out the decision.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet

from annotate.models import Response, ResponseStatus, Worker
from hits.models import Assignment, AssignmentStatus
from qualcontrol.models import Act, Decision


def lock_assignment(pk: int) -> Assignment:
    """Lock the assignment's worker and return the assignment as it is now.

    Every decision about a worker takes this lock, so the assignment does not change until the
    caller's transaction ends.
    """
    locked = Worker.objects.select_for_update(no_key=True, of=("self",))
    locked.get(account__assignments=pk)
    return Assignment.objects.select_related("hit", "account").get(pk=pk)


@transaction.atomic
def take_up(*, pk: int, submitted_until: datetime) -> Assignment | None:
    """Decide on a submitted assignment, store the decision and return the assignment.

    Return None if there is nothing to decide. An assignment submitted after `submitted_until` is in
    its review window and is not approved yet. A decision that is stored already is not changed,
    because its call may have succeeded.
    """
    assignment = lock_assignment(pk)
    if assignment.status != AssignmentStatus.SUBMITTED or assignment.deciding:
        return assignment if assignment.deciding else None
    reason = rejection_reason(assignment)
    is_due = Assignment.objects.payable().filter(pk=pk, submitted_at__lte=submitted_until)
    if reason:
        assignment.deciding, assignment.feedback = AssignmentStatus.REJECTED, reason
    elif is_due.exists():
        assignment.deciding, assignment.feedback = AssignmentStatus.APPROVED, ""
    else:
        return None
    assignment.save(update_fields=["deciding", "feedback"])
    return assignment


def rejection_reason(assignment: Assignment) -> str:
    """Return the reason for the worker if a reviewer has requested the rejection, otherwise "".

    It is also empty if a response of the assignment counts again, because used work is paid.
    """
    if counting_responses(assignment).exists():
        return ""
    of_it = Q(held_payment__assignment=assignment) | Q(response__assignment=assignment)
    asked = Decision.objects.filter(of_it, act=Act.REJECT)
    latest = asked.order_by("pk").last()
    return latest.reason if latest else ""


def counting_responses(assignment: Assignment) -> QuerySet[Response]:
    """Return the responses of the assignment that count towards their tasks."""
    return Response.objects.filter(assignment=assignment, status=ResponseStatus.SUBMITTED)


@transaction.atomic
def put_back(*, assignment: Assignment) -> None:
    """Delete a decision that the marketplace refused, so that the next sync decides again."""
    decided = Assignment.objects.filter(pk=assignment.pk, deciding=assignment.deciding)
    decided.update(deciding="", feedback="")
