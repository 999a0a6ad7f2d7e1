"""Read one HIT: its counts, its submitted assignments, and whether it still exists."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from hits.models import DECIDED, Assignment, AssignmentStatus, Hit, HitStatus
from hits.mturk.client import MarketplaceError, StrangeReply
from hits.mturk.replies import ListedAssignment, ListedAssignmentStatus, ListedHit, ListedStatus
from hits.reconcile.run import HIT_NAME, Done, Run
from hits.services.counts import recount
from hits.services.held_payments import lapse_held
from hits.services.submissions import take_submissions
from hits.services.task_pages import close_pages, close_returned

STATUSES = {
    ListedAssignmentStatus.SUBMITTED: AssignmentStatus.SUBMITTED,
    ListedAssignmentStatus.APPROVED: AssignmentStatus.APPROVED,
    ListedAssignmentStatus.REJECTED: AssignmentStatus.REJECTED,
}
# Not all servers of the marketplace may know a HIT right after it was created.
MADE_LATELY = timedelta(minutes=10)


def read_unlisted(run: Run, hit: Hit, *, answered: int) -> None:
    """Read the assignments of a HIT without its counts; `answered` is the number of new answers.

    As the counts are unknown, slots that were free still count as free, as far as possible.
    """
    is_partial = hit.ingested + answered < hit.slots
    if _may_wait(run, hit, is_partial=is_partial, unread=answered):
        _note_unread(run, hit, available=min(hit.available, hit.slots - hit.ingested))
        return
    _read(run, hit, most=hit.ingested + answered)
    Hit.objects.filter(pk=hit.pk).update(read_at=run.at)
    open_slots = max(0, hit.slots - hit.assignments.not_lost().count())
    available = min(hit.available, open_slots)
    _note_counts(hit, available=available, pending=open_slots - available)


def read_by_itself(run: Run, hit: Hit) -> None:
    """Request one HIT from the marketplace and read it; note that it is gone if it is not there."""
    try:
        listed = run.marketplace.hit(hit.hit_id or "")
    except MarketplaceError as error:
        if not error.says_gone:
            raise
        note_gone(run, hit)
    else:
        read_listed(run, hit, listed)


def read_listed(run: Run, hit: Hit, listed: ListedHit) -> None:
    """Update a HIT, its assignments and its responses from its entry in the marketplace's list.

    Raises StrangeReply, after everything else is done, if the HIT has another number of assignments
    than was requested.
    """
    if listed.status == ListedStatus.DISPOSED:
        note_gone(run, hit, is_certain=True)
        return
    adopt(hit, listed.hit_id, listed.expires_at)
    is_partial = listed.available + listed.pending > 0
    if _may_wait(run, hit, is_partial=is_partial, unread=listed.submitted - hit.ingested):
        _note_unread(run, hit, available=min(listed.available, hit.slots - hit.ingested))
        return
    # The listed counts may be older than the event that named the HIT.
    is_changed = listed.submitted != hit.ingested or listed.completed != hit.settled
    is_read = True
    if is_changed or hit.hit_id in run.named:
        # Later submissions change the counts, so the next sync reads them.
        is_read = _read(run, hit, most=listed.submitted)
    if is_read and hit.assignments.not_lost().count() > listed.submitted:
        _ask_for_surplus(run, hit)
    pending = _note_listed(hit, listed, is_read=is_read)
    # All submissions are read, so the other pages belong to workers who have not submitted yet, or
    # to nobody.
    close_returned(hit=hit, at_work=pending, before=run.at)
    if listed.max_assignments != hit.slots:
        raise StrangeReply(
            f"The marketplace has {listed.max_assignments} assignments for this HIT, but "
            f"{hit.slots} were requested."
        )


def _read(run: Run, hit: Hit, *, most: int) -> bool:
    """Ingest the HIT's submitted assignments; return whether all of them could be read."""
    with run.alone(HIT_NAME(hit)):
        found = _listed_assignments(run, hit, most=most)
        readable = [each for each in found if isinstance(each, ListedAssignment)]
        is_ingested = _ingest_together(run, hit, readable)
        for listed in found:
            with run.alone(HIT_NAME(hit)):
                if isinstance(listed, StrangeReply):
                    raise listed
                if not is_ingested:
                    ingest_assignments(run, hit, [listed])
    return HIT_NAME(hit) not in run.problems


def _ingest_together(run: Run, hit: Hit, listed: Sequence[ListedAssignment]) -> bool:
    """Store a HIT's submitted assignments in one transaction; return whether this succeeded.

    If it fails, the caller stores each by itself, so that only those that fail are missing.
    """
    try:
        ingest_assignments(run, hit, listed)
    except (InterfaceError, OperationalError):
        raise
    except Exception:
        return False
    return True


def _listed_assignments(run: Run, hit: Hit, *, most: int) -> list[ListedAssignment | StrangeReply]:
    """Return the submitted assignments of the HIT that the marketplace lists.

    Raises StrangeReply if there are more than the HIT has slots, because it is not known which of
    them are correct.
    """
    listed = list(run.marketplace.assignments(hit.hit_id or "", most=most))
    known = {each.assignment_id for each in listed if isinstance(each, ListedAssignment)}
    if len(known) > hit.slots:
        raise StrangeReply(
            f"The marketplace lists {len(known)} submitted assignments of this HIT, but "
            f"{hit.slots} were requested."
        )
    return listed


def _ask_for_surplus(run: Run, hit: Hit) -> None:
    """Request each undecided assignment of a HIT that has more assignments here than are listed.

    Faulty replies may have added them. Those that the marketplace does not have are marked as lost.
    """
    for assignment in hit.assignments.undecided().select_related("account").order_by("pk"):
        with run.alone(HIT_NAME(hit)):
            ask_for(run, assignment)


def ask_for(run: Run, assignment: Assignment) -> bool:
    """Request one assignment from the marketplace and store its decision.

    An assignment that the marketplace does not have, or has from another worker, is marked as lost.
    Return whether the assignment changed.
    """
    try:
        listed = run.marketplace.assignment(assignment.assignment_id)
    except MarketplaceError as error:
        if not error.says_gone:
            raise
        return _lose(run, assignment)
    if listed.worker_id != assignment.account.marketplace_id:
        return _lose(run, assignment)
    return note_decision(assignment, listed)


def _lose(run: Run, assignment: Assignment) -> bool:
    undecided = Assignment.objects.undecided().filter(pk=assignment.pk)
    lost = undecided.update(status=AssignmentStatus.LOST, deciding="", decided_at=run.at)
    lapse_held(assignment=assignment.pk, at=run.at)
    recount(assignment.hit_id)
    return bool(lost)


def note_gone(run: Run, hit: Hit, *, is_certain: bool = False) -> None:
    """Mark a HIT as gone, after reading the submissions that the marketplace still lists for it.

    The HIT's other slots no longer reserve money, and its pages are closed. Unless `is_certain`, a
    HIT that was never listed and was planned less than MADE_LATELY ago is left for the next sync.
    """
    if not is_certain and hit.listed_at is None and run.at - hit.planned_at < MADE_LATELY:
        return
    try:
        for listed in run.marketplace.assignments(hit.hit_id or ""):
            with run.alone(HIT_NAME(hit)):
                if isinstance(listed, StrangeReply):
                    raise listed
                ingest_assignments(run, hit, [listed])
    except MarketplaceError as error:
        if not error.says_gone:
            raise
    alive = Hit.objects.alive().created().filter(pk=hit.pk)
    if alive.update(status=HitStatus.GONE, available=0, pending=0, unread_since=None):
        run.done[Done.GONE] += 1
    recount(hit.pk)
    close_pages(hit.pages.values_list("pk", flat=True))


def _may_wait(run: Run, hit: Hit, *, is_partial: bool, unread: int) -> bool:
    """Return whether to leave a HIT with unread submissions until all its slots are submitted.

    Reading a HIT of nine slots once takes one call; reading it after each submission takes nine.
    No submission waits longer than MTURK_READ_WAIT_SECONDS.
    """
    is_due = run.at - (hit.unread_since or run.at) >= timedelta(
        seconds=settings.MTURK_READ_WAIT_SECONDS
    )
    return is_partial and unread > 0 and not is_due and hit.status == HitStatus.OPEN


def _note_unread(run: Run, hit: Hit, *, available: int) -> None:
    """Store the counts of a HIT that is left for later; unread submissions count as in progress."""
    Hit.objects.filter(pk=hit.pk).update(
        available=available,
        pending=hit.slots - available - hit.ingested,
        unread_since=hit.unread_since or run.at,
    )


def adopt(hit: Hit, hit_id: str, expires_at: datetime | None) -> None:
    """Record that a planned HIT exists at the marketplace, and update `hit`.

    It may have been created by a call whose answer was lost, or by another reconciler after `hit`
    was read.
    """
    planned = Hit.objects.filter(pk=hit.pk, status=HitStatus.PLANNED)
    if planned.update(
        status=HitStatus.OPEN, hit_id=hit_id, expires_at=expires_at, available=hit.slots
    ):
        hit.status, hit.hit_id, hit.available = HitStatus.OPEN, hit_id, hit.slots
    elif hit.status == HitStatus.PLANNED:
        hit.refresh_from_db()


def _note_listed(hit: Hit, listed: ListedHit, *, is_read: bool) -> int:
    """Store the HIT's listed counts and return the number of pending slots.

    Pending slots are not free but may still bring a submission. They include submissions that could
    not be read, so that the budget still reserves money for these.
    """
    unread = max(0, listed.submitted - hit.assignments.not_lost().count())
    if is_read and listed.is_over:
        unread = 0  # A marketplace may count free slots of an expired HIT as taken.
    values = listed_values(hit, listed, unread=unread)
    _note_counts(hit, **values, listed_at=timezone.now())
    pending: int = values["pending"]
    return pending


def listed_values(hit: Hit, listed: ListedHit, *, unread: int) -> dict[str, Any]:
    """Return the columns of a HIT as the marketplace lists it, with this many submissions that are
    not read and therefore count as pending."""
    available = 0 if listed.is_closed else min(listed.available, hit.slots)
    status = HitStatus(hit.status)
    if listed.is_closed:
        status = HitStatus.EXPIRED
    elif listed.status == ListedStatus.ASSIGNABLE:
        status = HitStatus.OPEN
    return {
        "available": available,
        "pending": min(listed.pending + unread, hit.slots - available),
        "status": status,
        "expires_at": listed.expires_at,
    }


def _note_counts(hit: Hit, *, available: int, pending: int, **values: Any) -> None:
    alive = Hit.objects.alive().filter(pk=hit.pk)
    alive.update(available=available, pending=pending, unread_since=None, **values)
    recount(hit.pk)


def ingest_assignments(run: Run, hit: Hit, listed: Sequence[ListedAssignment]) -> None:
    """Store submitted assignments of a HIT. If one is stored already, update only its status."""
    with transaction.atomic():
        rows = take_submissions(campaign=run.campaign, hit=hit, listed=listed, at=run.at)
        for (assignment, _), each in zip(rows, listed, strict=True):
            if assignment.status == AssignmentStatus.LOST:
                lost = Assignment.objects.filter(pk=assignment.pk, status=AssignmentStatus.LOST)
                lost.update(status=AssignmentStatus.SUBMITTED, decided_at=None)
            if assignment.status != STATUSES[each.status]:
                note_decision(assignment, each)
    run.sync.ingested += sum(is_new for _, is_new in rows)


def note_decision(assignment: Assignment, listed: ListedAssignment) -> bool:
    """Store the marketplace's decision on an assignment; return whether this changed it.

    An assignment is never decided here before it is decided at the marketplace.
    """
    status = STATUSES[listed.status]
    if status not in DECIDED:
        return False
    # An approval is final; a rejection can be overridden.
    open_to_it = [AssignmentStatus.SUBMITTED]
    if status == AssignmentStatus.APPROVED:
        open_to_it.append(AssignmentStatus.REJECTED)
    lapse_held(assignment=assignment.pk, at=listed.decided_at or assignment.submitted_at)
    return bool(
        Assignment.objects.filter(pk=assignment.pk, status__in=open_to_it).update(
            status=status,
            deciding="",
            decided_at=listed.decided_at,
            feedback=listed.feedback[:1024],
        )
    )
