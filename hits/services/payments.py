"""Decide whether to approve or reject submitted assignments.

A decision is stored, with the worker locked, before the call to the marketplace. Therefore nobody
can reject an assignment that is being paid, and an assignment whose rejection was requested before
that is not paid. If the process is killed during the call, the next sync carries out the decision.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from annotate.models import Response, ResponseStatus, Worker
from hits.models import Assignment, AssignmentStatus
from qualcontrol.models import Act, Decision, HeldPayment
from shared.prepared import Change, prepared, prepared_update


def lock_assignment(pk: int) -> Assignment:
    """Lock the assignment's worker and return the assignment as it is now.

    Every decision about a worker takes this lock, so the assignment does not change until the
    caller's transaction ends.
    """
    _lock_worker(pk)
    return Assignment.objects.select_related("hit", "account").get(pk=pk)


def _lock_worker(assignment: int) -> None:
    if not _workers_of(assignment=assignment):
        raise Assignment.DoesNotExist(f"There is no assignment {assignment}.")


@prepared
def _workers_of(assignment: Any) -> QuerySet[Worker]:
    locked = Worker.objects.select_for_update(no_key=True, of=("self",))
    return locked.filter(account__assignments=assignment)


@transaction.atomic
def take_up(*, pk: int, submitted_until: datetime) -> Assignment | None:
    """Decide on a submitted assignment, store the decision and return the assignment.

    Return None if there is nothing to decide. An assignment submitted after `submitted_until` is in
    its review window and is not approved yet. A decision that is stored already is not changed,
    because its call may have succeeded.
    """
    _lock_worker(pk)
    (assignment,) = _to_decide(assignment=pk)
    if assignment.status != AssignmentStatus.SUBMITTED or assignment.deciding:
        under_way: Assignment | None = assignment if assignment.deciding else None
        return under_way
    if assignment.reason and not assignment.is_used:
        deciding, feedback = AssignmentStatus.REJECTED, assignment.reason
    elif assignment.submitted_at <= submitted_until and not assignment.is_held:
        deciding, feedback = AssignmentStatus.APPROVED, ""
    else:
        return None
    assignment.deciding, assignment.feedback = deciding, feedback
    _store_decision(assignment=pk, deciding=deciding, feedback=feedback)
    decided: Assignment = assignment
    return decided


@prepared
def _to_decide(assignment: Any) -> QuerySet[Any, Any]:
    """An assignment with what decides about it: whether its payment is held, whether a response
    counts (used work is paid), and the reason for the worker if a reviewer has requested the
    rejection."""
    own = OuterRef("pk")
    asked = Decision.objects.filter(
        Q(held_payment__assignment=own) | Q(response__assignment=own), act=Act.REJECT
    )
    return (
        Assignment.objects.filter(pk=assignment)
        .select_related("account")
        .annotate(
            is_held=Exists(HeldPayment.objects.open().filter(assignment=own)),
            is_used=Exists(counting_responses(own)),
            reason=Subquery(asked.order_by("-pk").values("reason")[:1]),
        )
    )


@prepared_update
def _store_decision(assignment: Any, **columns: Any) -> Change:
    return Assignment.objects.filter(pk=assignment), columns


def counting_responses(assignment: Any) -> QuerySet[Response]:
    """Return the responses of the assignment that count towards their tasks."""
    return Response.objects.filter(assignment=assignment, status=ResponseStatus.SUBMITTED)


@transaction.atomic
def put_back(*, assignment: Assignment) -> None:
    """Delete a decision that the marketplace refused, so that the next sync decides again."""
    decided = Assignment.objects.filter(pk=assignment.pk, deciding=assignment.deciding)
    decided.update(deciding="", feedback="")


def record_decision(*, assignment: Assignment, at: datetime) -> bool:
    """Record that the marketplace has carried out the stored decision; return whether it was not
    recorded before. The caller counts the HIT's decided assignments."""
    values = {"assignment": assignment.pk, "status": assignment.deciding, "decided_at": at}
    return bool(_carried_out(**values, deciding=""))


@prepared_update
def _carried_out(assignment: Any, **columns: Any) -> Change:
    return Assignment.objects.undecided().filter(pk=assignment), columns
