"""What requesters decide on work and on workers: approvals, rejections, bonuses, blocks, messages.

Each locks the worker first, then the assignment, the HIT and the requester, as all services do.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from marketplace import queries
from marketplace.errors import DomainError, InvalidAssignmentState
from marketplace.models import (
    DECIDED,
    Assignment,
    AssignmentStatus,
    BonusPayment,
    EventType,
    Hit,
    HitStatus,
    Message,
    Requester,
    TransferKind,
    Worker,
    WorkerBlock,
)
from marketplace.services import money
from marketplace.services.hits import claim_token, lock
from marketplace.services.notifications import record_event


@transaction.atomic
def approve(
    *,
    assignment: Assignment,
    at: datetime,
    feedback: str = "",
    override_rejection: bool = False,
) -> None:
    """Approve and pay; raises InvalidAssignmentState or InsufficientFunds.

    With `override_rejection`, a rejected assignment can be approved within the allowed time.
    """
    Worker.objects.filter(pk=assignment.worker_id).update(approved_count=F("approved_count") + 1)
    submitted = Assignment.objects.filter(pk=assignment.pk, status=AssignmentStatus.SUBMITTED)
    if submitted.update(
        status=AssignmentStatus.APPROVED, approved_at=at, requester_feedback=feedback
    ):
        _pay(assignment, _count_approved(assignment), at)
    elif override_rejection:
        _override(assignment, feedback, at)
    else:
        raise _wrong_state(assignment)
    record_event(
        event_type=EventType.ASSIGNMENT_APPROVED, hit=assignment.hit, assignment=assignment, at=at
    )


def _count_approved(assignment: Assignment) -> Hit:
    """Count the assignment as approved; return its HIT as it is now."""
    hit = assignment.hit
    if not queries.move_approved(hit):
        # The HIT has another type since it was read, and with it another reward and another fee.
        hit = lock(hit)
        queries.move(hit.pk, unreviewed=-1, completed=1)
    return hit


def _pay(assignment: Assignment, hit: Hit, at: datetime) -> None:
    money.move_money(
        requester=hit.requester,
        kinds={TransferKind.REWARD: hit.hit_type.reward, TransferKind.FEE: hit.fee},
        at=at,
        worker_id=assignment.worker_id,
        hit=hit,
        assignment=assignment,
    )


def _override(assignment: Assignment, feedback: str, at: datetime) -> None:
    values: dict[str, Any] = {"status": AssignmentStatus.APPROVED, "approved_at": at}
    if feedback:
        values["requester_feedback"] = feedback
    # The hold was released at the rejection, so the cost is held again first.
    rejected = Assignment.objects.filter(
        pk=assignment.pk,
        status=AssignmentStatus.REJECTED,
        submitted_at__gte=at - settings.MTURK_OVERRIDE_REJECTION_WITHIN,
    ).exclude(hit__status=HitStatus.DISPOSED)
    if not rejected.update(**values):
        raise _wrong_state(assignment, cannot_override=True)
    _refuse_erased(assignment.worker_id)
    # An operator may have corrected it since the rejection.
    Worker.objects.filter(pk=assignment.worker_id).update(
        rejected_count=Greatest(F("rejected_count") - 1, 0)
    )
    hit = lock(assignment.hit)
    if hit.status == HitStatus.DISPOSED:
        raise InvalidAssignmentState(f"Hit {hit.public_id} has just been deleted.")
    money.hold(hit=hit, slots=1, at=at)
    _pay(assignment, hit, at)


@transaction.atomic
def reject(*, assignment: Assignment, feedback: str, at: datetime) -> None:
    """Reject, with a reason that the worker reads; raises InvalidAssignmentState."""
    Worker.objects.filter(pk=assignment.worker_id).update(rejected_count=F("rejected_count") + 1)
    submitted = Assignment.objects.filter(pk=assignment.pk, status=AssignmentStatus.SUBMITTED)
    if not submitted.update(
        status=AssignmentStatus.REJECTED, rejected_at=at, requester_feedback=feedback
    ):
        raise _wrong_state(assignment)
    queries.move(assignment.hit_id, unreviewed=-1, completed=1)
    hit = lock(assignment.hit)
    money.release(hit=hit, slots=1, at=at)
    rejected = Assignment.objects.filter(pk=assignment.pk)
    rejected.update(rejected_reward=hit.hit_type.reward)
    record_event(
        event_type=EventType.ASSIGNMENT_REJECTED, hit=assignment.hit, assignment=assignment, at=at
    )


def _wrong_state(assignment: Assignment, *, cannot_override: bool = False) -> DomainError:
    assignment.refresh_from_db()
    message = "This operation can be called with a status of: Submitted"
    if cannot_override and assignment.status == AssignmentStatus.REJECTED:
        days = settings.MTURK_OVERRIDE_REJECTION_WITHIN.days
        message = (
            f"A rejection can be overridden until {days} days after the submission, and while the "
            f"HIT is not deleted. {message}"
        )
    return InvalidAssignmentState(
        f"This Assignment is currently in the state '{assignment.status}'. {message}"
    )


@transaction.atomic
def send_bonus(
    *,
    requester: Requester,
    worker: Worker,
    assignment: Assignment,
    amount: Decimal,
    reason: str,
    at: datetime,
    token: str | None = None,
) -> BonusPayment:
    """Pay a bonus; raises AlreadyDone, InsufficientFunds, or DomainError for invalid input."""
    if assignment.worker_id != worker.pk:
        raise DomainError(
            f"Worker {worker.public_id} did not do the assignment {assignment.public_id}."
        )
    if not 0 < amount <= settings.MTURK_MOST_REWARD:
        raise DomainError(f"BonusAmount must be between 0.01 and {settings.MTURK_MOST_REWARD}.")
    if not reason.strip():
        raise DomainError("Reason must not be empty.")
    # First: what follows may have changed since a request that paid and is repeated now.
    claim_token(requester=requester, operation="SendBonus", token=token, at=at)
    _refuse_bonus_too_late(requester, worker, at)
    _refuse_erased(worker.pk)
    bonus = BonusPayment.objects.create(
        requester=requester,
        worker=worker,
        assignment=assignment,
        hit_id=assignment.hit_id,
        amount=amount,
        reason=reason,
        granted_at=at,
    )
    money.pay_bonus(bonus=bonus, at=at)
    return bonus


def _refuse_erased(worker_id: int) -> None:
    """Raise DomainError if the worker's account is closed: nobody can be paid."""
    # Locked, because an erasure that runs now has read that nothing is owed.
    worker = Worker.objects.select_for_update(no_key=True).get(pk=worker_id)
    if worker.erased_at is not None:
        raise DomainError(f"Worker {worker.public_id} has closed the account and cannot be paid.")


def _refuse_bonus_too_late(requester: Requester, worker: Worker, at: datetime) -> None:
    within = settings.MTURK_BONUS_WITHIN
    if (
        within
        and not worker.assignments.filter(
            hit__requester=requester, submitted_at__gt=at - within
        ).exists()
    ):
        raise DomainError(
            f"Worker {worker.public_id} has done nothing for you for {within.days} days."
        )


# Workers


MOST_RECIPIENTS = 100


def block_worker(*, requester: Requester, worker: Worker, reason: str, at: datetime) -> None:
    """Block the worker from the requester's HITs; a second block replaces the reason.

    Raises DomainError if the requester has reached the maximum number of blocks.
    """
    others = requester.worker_blocks.exclude(worker=worker)
    if others.count() >= settings.MTURK_MOST_BLOCKS:
        raise DomainError(f"At most {settings.MTURK_MOST_BLOCKS} workers can be blocked.")
    WorkerBlock.objects.update_or_create(
        requester=requester,
        worker=worker,
        defaults={"reason": reason},
        create_defaults={"reason": reason, "created_at": at},
    )


def unblock_worker(*, requester: Requester, worker: Worker) -> None:
    """Remove the block, if there is one."""
    requester.worker_blocks.filter(worker=worker).delete()


@transaction.atomic
def notify_workers(
    *, requester: Requester, subject: str, text: str, worker_ids: Sequence[str], at: datetime
) -> dict[str, str]:
    """Send a message to workers; return the errors by worker id."""
    if len(subject) > 200 or not subject.strip():
        raise DomainError("Subject must have 1 to 200 characters.")
    if len(text) > 4096 or not text.strip():
        raise DomainError("MessageText must have 1 to 4096 characters.")
    if len(worker_ids) > MOST_RECIPIENTS:
        raise DomainError(f"At most {MOST_RECIPIENTS} workers can be notified at once.")
    # Nobody reads what is sent to a closed account, and no further erasure deletes it. Locked,
    # because one may be closing.
    open_accounts = Worker.objects.filter(public_id__in=worker_ids, erased_at=None).order_by("pk")
    workers = {worker.public_id: worker for worker in open_accounts.select_for_update(no_key=True)}
    reachable = _with_history(requester, workers.values())
    failures = {}
    messages = []
    for public_id in dict.fromkeys(worker_ids):
        worker = workers.get(public_id)
        if worker is None:
            failures[public_id] = "The worker does not exist."
        elif worker.pk not in reachable:
            failures[public_id] = "You have not reviewed any work of this worker."
        else:
            messages.append(
                Message(requester=requester, worker=worker, subject=subject, text=text, sent_at=at)
            )
    Message.objects.bulk_create(messages)
    return failures


def _with_history(requester: Requester, workers: Iterable[Worker]) -> set[int]:
    if not settings.MTURK_NEEDS_HISTORY_FOR_MESSAGES:
        return {worker.pk for worker in workers}
    return {
        worker.pk
        for worker in workers
        if Assignment.objects.filter(
            worker=worker, status__in=DECIDED, hit__requester=requester
        ).exists()
    }
