"""Accept, submit, return and abandon assignments, and note what participants have done."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from marketplace import ids, queries
from marketplace.errors import (
    AssignmentClosed,
    InvalidAssignmentState,
    NothingToAccept,
    NotQualified,
)
from marketplace.models import (
    REVEALED,
    Assignment,
    AssignmentStatus,
    EventType,
    Hit,
    HitType,
    Offer,
    Participation,
    Worker,
)
from marketplace.requirements import Action
from marketplace.services.hits import announce_if_reviewable
from marketplace.services.notifications import record_event
from marketplace.services.qualifications import BLOCKED, refuse_unqualified
from marketplace.services.reviews import approve

# How many times a HIT may be taken by other workers before the worker gets NothingToAccept.
TRIES = 50


@transaction.atomic
def accept(
    *, worker: Worker, hit_type: HitType, at: datetime, offer: Offer | None = None
) -> Assignment:
    """Assign the worker an open HIT of the group that they have not done; a member by this offer.

    Raises NothingToAccept and NotQualified.
    """
    # Lock the worker first, then the HIT, so that the second click of a double click waits.
    locked = Worker.objects.select_for_update().filter(pk=worker.pk).first()
    if locked is None:
        raise NotQualified("This account was deleted. Follow the panel's link again.")
    worker = locked
    if worker.is_suspended:
        raise NotQualified(
            "Your account is suspended, so you cannot accept HITs. Contact the marketplace's host."
        )
    standing = queries.standing(worker, hit_type.requester_id, at)
    if standing.is_blocked:
        raise NotQualified(BLOCKED)
    refuse_unqualified(worker=worker, hit_type=hit_type, action=Action.ACCEPT)
    if standing.in_queue >= settings.MTURK_QUEUE_LENGTH:
        raise NotQualified(
            f"Your queue is full: it has {settings.MTURK_QUEUE_LENGTH} HITs. Submit or return "
            "some of them first."
        )
    hit = _take_slot(worker, hit_type, at, after=standing.last_hit)
    assignment = Assignment.objects.create(
        hit=hit,
        worker=worker,
        offer=offer,
        public_id=_returned_id(hit, worker) or ids.entity_id(),
        accepted_at=at,
        deadline=at + hit_type.assignment_duration,
    )
    record_event(event_type=EventType.ASSIGNMENT_ACCEPTED, hit=hit, assignment=assignment, at=at)
    return assignment


def _returned_id(hit: Hit, worker: Worker) -> str:
    """Id of another worker's returned assignment of the HIT, if ids are reused, else empty."""
    if not settings.MTURK_REISSUE_ASSIGNMENT_IDS:
        return ""
    given_up = hit.assignments.filter(
        status__in=[AssignmentStatus.RETURNED, AssignmentStatus.ABANDONED]
    )
    row = given_up.exclude(worker=worker).order_by("-pk").first()
    if row is None:
        return ""
    # Keep the old row for that worker's history, under a new id.
    Assignment.objects.filter(pk=row.pk).update(public_id=ids.entity_id())
    return row.public_id


def _take_slot(worker: Worker, hit_type: HitType, at: datetime, *, after: int | None) -> Hit:
    for _ in range(TRIES):
        hit = _next_hit(worker, hit_type, at, after=after)
        if hit is None:
            break
        if queries.take_slot(hit, at):
            return hit
    raise NothingToAccept("No more HITs of this group are available to you at the moment.")


def next_hit(
    *, worker: Worker, hit_type: HitType, at: datetime, after: Hit | None = None
) -> Hit | None:
    """The HIT of the group that the worker would get now, or None. `after` is the HIT of their
    latest assignment, if the caller knows it."""
    latest = worker.assignments.order_by("-pk").values_list("hit_id", flat=True)
    return _next_hit(worker, hit_type, at, after=after.pk if after else latest.first())


def _next_hit(worker: Worker, hit_type: HitType, at: datetime, *, after: int | None) -> Hit | None:
    """The next HIT for a worker whose latest assignment was of the HIT with the key `after`."""
    # Workers do the HITs of a group in order. Continuing after the last one keeps this query fast
    # for workers who have done many. HITs before it that reopened are found in the second round.
    for start in [after, 0] if after else [0]:
        hit = queries.next_hit(worker, hit_type, after=start, at=at)
        if hit is not None:
            hit.hit_type = hit_type
            return hit
    return None


@transaction.atomic
def _submit(assignment: Assignment, answer: str, at: datetime) -> bool:
    """Return False if this answer was submitted before; raises AssignmentClosed."""
    turn = Assignment.objects.in_time(at).filter(pk=assignment.pk)
    if not turn.update(
        status=AssignmentStatus.SUBMITTED,
        submitted_at=at,
        ended_at=at,
        auto_approval_at=at + assignment.hit.hit_type.auto_approval_delay,
        answer=answer,
    ):
        assignment.refresh_from_db(fields=["status", "answer"])
        if assignment.status in REVEALED and assignment.answer == answer:
            return False
        raise AssignmentClosed(
            "This assignment was already submitted or returned, or its time is over. Nothing "
            "was changed."
        )
    hit_status = queries.move(assignment.hit_id, pending=-1, unreviewed=1)
    record_event(
        event_type=EventType.ASSIGNMENT_SUBMITTED,
        hit=assignment.hit,
        assignment=assignment,
        at=at,
    )
    announce_if_reviewable(hit=assignment.hit, status=hit_status, at=at)
    return True


def submit(*, assignment: Assignment, answer: str, at: datetime) -> Participation | None:
    """Store the answer and end the assignment; raises AssignmentClosed.

    A page that missed the reply may submit the same answer again, which changes nothing. Returns
    the participation in a study that the assignment counts for, or None.
    """
    is_new = _submit(assignment, answer, at)
    participation = participation_for(assignment)
    if participation is not None and progress_of(participation).is_complete:
        Participation.objects.filter(pk=participation.pk, completed_at=None).update(completed_at=at)
    # In its own transaction, because approving locks rows in another order. If the process dies
    # here, the sweep approves the assignment. A review policy decides first, in the sweep.
    hit = assignment.hit
    has_policy = hit.assignment_review_policy is not None or hit.hit_review_policy is not None
    if is_new and not has_policy and hit.hit_type.auto_approval_delay <= timedelta():
        # A sweep may have approved it, or the requester decided.
        with suppress(InvalidAssignmentState):
            approve(assignment=assignment, at=at)
    return participation


def give_back(*, assignment: Assignment, at: datetime) -> None:
    """Return the assignment, which has no disadvantage for the worker; raises AssignmentClosed."""
    if not _end(assignment, AssignmentStatus.RETURNED, EventType.ASSIGNMENT_RETURNED, at):
        raise AssignmentClosed("This assignment has ended, so it cannot be returned.")


def abandon(assignment: Assignment, at: datetime) -> bool:
    """End an overdue assignment; return False if it has ended or is not overdue."""
    if assignment.deadline > at:
        return False
    return _end(assignment, AssignmentStatus.ABANDONED, EventType.ASSIGNMENT_ABANDONED, at)


@transaction.atomic
def _end(
    assignment: Assignment, status: AssignmentStatus, event_type: EventType, at: datetime
) -> bool:
    turn = Assignment.objects.accepted().filter(pk=assignment.pk)
    if not turn.update(status=status, ended_at=at):
        return False
    hit_status = queries.move(assignment.hit_id, pending=-1, available=1)
    record_event(event_type=event_type, hit=assignment.hit, assignment=assignment, at=at)
    announce_if_reviewable(hit=assignment.hit, status=hit_status, at=at)
    return True


@dataclass(frozen=True)
class Progress:
    """How many assignments of the study a participant has done, and how many the study needs."""

    done: int
    wanted: int

    @property
    def is_complete(self) -> bool:
        return self.done >= self.wanted

    @property
    def next_number(self) -> int:
        return min(self.done + 1, self.wanted)


def progress_of(participation: Participation) -> Progress:
    """Progress in the study. Rejected work counts as done."""
    done = participation.assignments().filter(status__in=REVEALED).count()
    return Progress(done=done, wanted=participation.study.assignments)


def participation_for(assignment: Assignment) -> Participation | None:
    """The worker's latest participation that the assignment counts for, or None."""
    if not assignment.may_be_in_study:
        return None
    mine = Participation.objects.filter(
        worker=assignment.worker_id,
        study__hit_type=assignment.hit.hit_type_id,
        started_at__lte=assignment.accepted_at,
    )
    return mine.select_related("study__hit_type", "worker").order_by("-started_at", "-pk").first()
