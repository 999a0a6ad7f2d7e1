"""Decide whether to approve or reject submitted assignments.

A decision is stored, with the worker locked, before the call to the marketplace, for several
assignments together. Therefore nobody can reject an assignment that is being paid, and an
assignment whose rejection was requested before that is not paid. If the process is killed before
the outcome of the call is stored, the next sync carries out the decision.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from annotate.models import Response, Worker
from hits.models import Assignment, AssignmentStatus, Hit, HitStatus
from qualcontrol.models import Act, Decision, HeldCause, HeldOutcome, HeldPayment
from qualcontrol.review.judging import reject_response
from qualcontrol.services.discards import discard_lost, restore_found
from qualcontrol.services.errors import CannotReject
from qualcontrol.services.held_payments import (
    accept_payment,
    hold_again,
    refuse_payment,
)
from qualcontrol.services.locks import lock_worker, locked_response
from qualcontrol.services.sampling import lock_check_share


def lock_assignment(pk: int) -> Assignment:
    """Lock the assignment's worker and return the assignment as it is now.

    Every decision about a worker takes this lock, so the assignment does not change until the
    caller's transaction ends.
    """
    _lock_workers([pk])
    return Assignment.objects.select_related("hit", "account").get(pk=pk)


def _lock_workers(assignments: Sequence[int]) -> None:
    locked = Worker.objects.select_for_update(no_key=True, of=("self",)).order_by("pk")
    list(locked.filter(account__assignments__in=assignments))


class Taken(NamedTuple):
    """Assignments whose decision is stored and is to be carried out, by key, and the keys of those
    whose decision was not stored before."""

    assignments: dict[int, Assignment]
    new: set[int]


@transaction.atomic
def take_up(*, keys: Sequence[int], submitted_until: datetime) -> Taken:
    """Decide on those of these assignments on which there is something to decide, and store the
    decisions.

    An assignment submitted after `submitted_until` is in its review window and is not approved yet.
    A decision that is stored already is not changed, because its call may have succeeded.
    """
    _lock_workers(keys)
    taken = Taken({}, set())
    decisions: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    was_held = []
    for assignment in _to_decide().filter(pk__in=keys):
        if not assignment.deciding and (decision := _decision(assignment, submitted_until)):
            assignment.deciding, assignment.feedback = decision
            decisions[decision].append(assignment.pk)
            taken.new.add(assignment.pk)
            was_held += [assignment.pk] if assignment.was_held else []
        if assignment.deciding:
            taken.assignments[assignment.pk] = assignment
    for (deciding, feedback), decided in decisions.items():
        rows = Assignment.objects.filter(pk__in=decided)
        rows.update(deciding=deciding, feedback=feedback)
    if was_held:
        HeldPayment.objects.filter(submission__in=was_held).update(is_settled=True)
    return taken


def _decision(row: Any, submitted_until: datetime) -> tuple[str, str] | None:
    """The new status of an assignment of `_to_decide` and what the worker is told; None if there is
    nothing to decide now."""
    if row.status != AssignmentStatus.SUBMITTED:
        return None
    if row.reason and not row.is_used:
        return AssignmentStatus.REJECTED, row.reason
    if row.submitted_at <= submitted_until and not row.is_held:
        return AssignmentStatus.APPROVED, ""
    return None


def _to_decide() -> QuerySet[Any]:
    """Assignments with what decides about them: whether the payment is or was held, whether a
    response counts (used work is paid), and the reason for the worker if a reviewer has requested
    the rejection."""
    own = OuterRef("pk")
    asked = Decision.objects.filter(
        Q(held_payment__submission=own) | Q(response__submission=own), act=Act.REJECT
    )
    return Assignment.objects.select_related("account").annotate(
        is_held=Exists(HeldPayment.objects.open().filter(submission=own)),
        was_held=Exists(HeldPayment.objects.filter(submission=own)),
        is_used=Exists(counting_responses(own)),
        reason=Subquery(asked.order_by("-pk").values("reason")[:1]),
    )


def counting_responses(assignment: Any) -> QuerySet[Response]:
    """The responses of the assignment with this key that count towards their tasks."""
    return Response.objects.counting().filter(submission=assignment)


@transaction.atomic
def put_back(*, assignment: Assignment) -> None:
    """Delete a decision that the marketplace refused, so that the next sync decides again. The
    verdict that released a held payment may have been taken back meanwhile."""
    _lock_workers([assignment.pk])
    decided = Assignment.objects.filter(pk=assignment.pk, deciding=assignment.deciding)
    if decided.update(deciding="", feedback=""):
        HeldPayment.objects.filter(submission=assignment.pk).update(is_settled=False)
        hold_again(assignment.pk)


def record_decision(*, assignment: Assignment, at: datetime) -> bool:
    """Record that the marketplace has carried out the stored decision; return whether it was not
    recorded before. The caller counts the HIT's decided assignments."""
    undecided = Assignment.objects.undecided().filter(pk=assignment.pk)
    return bool(undecided.update(status=assignment.deciding, decided_at=at, deciding=""))


WHY_NOT = {
    AssignmentStatus.APPROVED: "This assignment is already approved, and an approval is final.",
    AssignmentStatus.REJECTED: "This assignment is already rejected.",
    AssignmentStatus.LOST: "The marketplace no longer has this assignment.",
}


def refuse_if_decided(assignment: Assignment) -> None:
    """Raise CannotReject if the assignment is decided, or a decision is being sent."""
    if why_not := WHY_NOT.get(AssignmentStatus(assignment.status)):
        raise CannotReject(why_not)
    if assignment.deciding:
        is_payment = assignment.deciding == AssignmentStatus.APPROVED
        what = "paid: the approval" if is_payment else "rejected: the rejection"
        raise CannotReject(
            f"This assignment is being {what} was sent to the marketplace, which has not "
            "confirmed it yet."
        )


@transaction.atomic
def ask_for_rejection(*, response: Response, reason: str, actor: User, at: datetime) -> None:
    """Request that the next sync rejects the response's assignment; end its held payment, if any.

    Raises ReasonMissing, or CannotReject if the assignment is decided or is being decided. It is
    rejected as a whole, so CannotReject is also raised if any of its responses counts.
    """
    if response.submission_id is None:
        raise CannotReject(
            "This response has no assignment at the marketplace, so there is nothing to reject."
        )
    locked_response(response.pk)  # with all workers of its text, in order
    assignment = lock_assignment(response.submission_id)
    refuse_if_decided(assignment)
    if counting_responses(assignment.pk).exists():
        raise CannotReject(
            "Other responses of the same assignment are in use. Work that is used is paid."
        )
    reject_response(response=response, reason=reason, actor=actor, at=at)
    # Also one that verdicts released: taking one of them back must not hold it again.
    held = HeldPayment.objects.filter(submission=assignment.pk)
    released = held.filter(Q(ended_at=None) | Q(outcome=HeldOutcome.JUDGED))
    released.update(outcome=HeldOutcome.REJECT, ended_at=at)


@transaction.atomic
def accept_held(*, held: HeldPayment, reason: str, actor: User, at: datetime) -> None:
    """Accept a held payment, which the next sync pays.

    Raises CannotReject or AlreadyDecided if the assignment or the payment is decided already.
    """
    refuse_if_decided(lock_assignment(held.submission_id))
    accept_payment(held=held, reason=reason, actor=actor, at=at)


@transaction.atomic
def reject_held(*, held: HeldPayment, reason: str, actor: User, at: datetime) -> None:
    """Refuse a held payment; the next sync rejects the assignment. The worker reads the reason.

    Raises CannotReject or AlreadyDecided if it is decided already, or ReasonMissing.
    """
    lock_worker(held.worker)  # with those whose versions are discarded too, in order
    lock_check_share(held.campaign)
    refuse_if_decided(lock_assignment(held.submission_id))
    refuse_payment(held=held, reason=reason, actor=actor, at=at)


def lapse_held(*, assignment: int, at: datetime) -> None:
    """End the held payment of an assignment, if any, without a decision.

    Used if the marketplace has decided, for example by automatic approval, or has lost the
    assignment.
    """
    held = HeldPayment.objects.filter(submission=assignment)
    held.open().update(outcome=HeldOutcome.LAPSED, ended_at=at)
    held.update(is_settled=True)


@transaction.atomic
def lose(*, assignment: Assignment, at: datetime) -> bool:
    """Mark an undecided assignment as lost, because the marketplace does not have it; return
    whether this changed it.

    Its responses no longer count, unless its HIT is gone, too: then they may have been paid.
    """
    worker = assignment.account.worker
    lock_worker(worker)  # another sync may find it
    lock_check_share(assignment.hit.campaign)
    undecided = Assignment.objects.undecided().filter(pk=assignment.pk)
    lost = undecided.update(status=AssignmentStatus.LOST, deciding="", decided_at=at)
    lapse_held(assignment=assignment.pk, at=at)
    hit = Hit.objects.get(pk=assignment.hit_id)
    if lost and hit.status != HitStatus.GONE:
        discard_lost(campaign=hit.campaign, worker=worker, submission=assignment.pk, at=at)
    return bool(lost)


@transaction.atomic
def find(*, assignment: int, at: datetime) -> None:
    """Undo `lose`, if the assignment with this key is lost: the marketplace lists it again. Its
    payment is held again, unless verdicts released it."""
    row = Assignment.objects.select_related("hit__campaign", "account__worker").get(pk=assignment)
    campaign, worker = row.hit.campaign, row.account.worker
    lock_worker(worker)
    lock_check_share(campaign)
    lost = Assignment.objects.filter(pk=assignment, status=AssignmentStatus.LOST)
    if lost.update(status=AssignmentStatus.SUBMITTED, decided_at=None):
        restore_found(campaign=campaign, worker=worker, submission=assignment, at=at)
        _hold_found(assignment)


def _hold_found(assignment: int) -> None:
    held = HeldPayment.objects.filter(submission=assignment)
    lapsed = held.filter(outcome=HeldOutcome.LAPSED)
    lapsed.filter(cause=HeldCause.NO_TASK).update(outcome="", ended_at=None)
    lapsed.filter(cause=HeldCause.RULES).update(outcome=HeldOutcome.JUDGED)
    held.update(is_settled=False)
    hold_again(assignment)
