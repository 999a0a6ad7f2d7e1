"""What becomes of a submitted assignment: approved, rejected, or nothing yet.

A decision is written down under the worker's lock before the marketplace is told. So nobody can ask
for a rejection of what is being paid, and what somebody asked to reject before that is never paid;
a process that is killed over the call leaves the decision, which the next sync carries out.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet

from annotate.models import Response, ResponseStatus, Worker
from hits.models import Assignment, AssignmentStatus
from qualcontrol.models import Act, Decision


def lock_assignment(pk: int) -> Assignment:
    """The assignment as it is now. Its worker is locked, as for every decision about a worker, so
    it stays like this until the caller's transaction ends."""
    locked = Worker.objects.select_for_update(no_key=True, of=("self",))
    locked.get(account__assignments=pk)
    return Assignment.objects.select_related("hit", "account").get(pk=pk)


@transaction.atomic
def take_up(*, pk: int, submitted_until: datetime) -> Assignment | None:
    """Decide about a submitted assignment and write down what the marketplace is about to be told;
    None where nothing is to be done. One submitted after `submitted_until` is still in its review
    window. A decision that was written down before stands: its call may have taken effect."""
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
    """What the worker is to read, if a reviewer asked for the rejection; empty otherwise, also
    where some of the work was restored since: what is used is paid."""
    if counting_responses(assignment).exists():
        return ""
    of_it = Q(held_payment__assignment=assignment) | Q(response__assignment=assignment)
    asked = Decision.objects.filter(of_it, act=Act.REJECT)
    latest = asked.order_by("pk").last()
    return latest.reason if latest else ""


def counting_responses(assignment: Assignment) -> QuerySet[Response]:
    """Responses of the assignment that count towards their tasks."""
    return Response.objects.filter(assignment=assignment, status=ResponseStatus.SUBMITTED)


@transaction.atomic
def put_back(*, assignment: Assignment) -> None:
    """Take back a decision that the marketplace refused: it may be made anew."""
    decided = Assignment.objects.filter(pk=assignment.pk, deciding=assignment.deciding)
    decided.update(deciding="", feedback="")
