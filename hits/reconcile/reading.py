"""Reading one HIT: its counts, its submitted assignments, and that it is gone."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from hits.models import DECIDED, Assignment, AssignmentStatus, Hit, HitStatus
from hits.mturk.client import MarketplaceError, StrangeReply
from hits.mturk.replies import ListedAssignment, ListedAssignmentStatus, ListedHit, ListedStatus
from hits.reconcile.run import HIT_NAME, Done, Run
from hits.services.counts import recount
from hits.services.held_payments import lapse_held
from hits.services.submissions import take_submission
from hits.task_page.pages import close_pages, close_returned

STATUSES = {
    ListedAssignmentStatus.SUBMITTED: AssignmentStatus.SUBMITTED,
    ListedAssignmentStatus.APPROVED: AssignmentStatus.APPROVED,
    ListedAssignmentStatus.REJECTED: AssignmentStatus.REJECTED,
}
# A HIT that was just made may not be known everywhere at the marketplace.
MADE_LATELY = timedelta(minutes=10)


def read_unlisted(run: Run, hit: Hit, *, answered: int) -> None:
    """Read a HIT of which so many answers were stored here. What the marketplace would list of it
    is not known: slots that were free count as free still, as far as they can be."""
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
    """Ask the marketplace about this one HIT and read it; one that it does not have is gone."""
    try:
        listed = run.marketplace.hit(hit.hit_id or "")
    except MarketplaceError as error:
        if not error.says_gone:
            raise
        note_gone(run, hit)
    else:
        read_listed(run, hit, listed)


def read_listed(run: Run, hit: Hit, listed: ListedHit) -> None:
    """Bring a HIT up to what the marketplace says of it. Raises StrangeReply where that is another
    number of assignments than was asked for, after the rest is done."""
    if listed.status == ListedStatus.DISPOSED:
        note_gone(run, hit, is_certain=True)
        return
    adopt(hit, listed.hit_id, listed.expires_at)
    is_partial = listed.available + listed.pending > 0
    if _may_wait(run, hit, is_partial=is_partial, unread=listed.submitted - hit.ingested):
        _note_unread(run, hit, available=min(listed.available, hit.slots - hit.ingested))
        return
    # The counts of a HIT may be a moment behind the event that named it.
    is_changed = listed.submitted != hit.ingested or listed.completed != hit.settled
    is_read = True
    if is_changed or hit.hit_id in run.named:
        # One that is submitted after the listing changes the counts, and is read the next time.
        is_read = _read(run, hit, most=listed.submitted)
    if is_read and hit.assignments.not_lost().count() > listed.submitted:
        _ask_for_surplus(run, hit)
    pending = _note_listed(hit, listed, is_read=is_read)
    # What was submitted is read, so whoever else opened a page is at work, or was never there.
    close_returned(hit=hit, at_work=pending, before=run.at)
    if listed.max_assignments != hit.slots:
        raise StrangeReply(
            f"The marketplace has {listed.max_assignments} assignments for this HIT, but "
            f"{hit.slots} were requested."
        )


def _read(run: Run, hit: Hit, *, most: int) -> bool:
    """Take in the HIT's submitted assignments; whether all of them could be."""
    with run.alone(HIT_NAME(hit)):
        for listed in _listed_assignments(run, hit, most=most):
            with run.alone(HIT_NAME(hit)):
                if isinstance(listed, StrangeReply):
                    raise listed
                ingest_assignment(run, hit, listed)
    return HIT_NAME(hit) not in run.problems


def _listed_assignments(run: Run, hit: Hit, *, most: int) -> list[ListedAssignment | StrangeReply]:
    """What the marketplace lists as submitted in the HIT. Raises StrangeReply where that is more
    than the HIT has slots: nobody can tell which of them are right."""
    listed = list(run.marketplace.assignments(hit.hit_id or "", most=most))
    known = {each.assignment_id for each in listed if isinstance(each, ListedAssignment)}
    if len(known) > hit.slots:
        raise StrangeReply(
            f"The marketplace lists {len(known)} submitted assignments of this HIT, but "
            f"{hit.slots} were requested."
        )
    return listed


def _ask_for_surplus(run: Run, hit: Hit) -> None:
    """Ask for each undecided assignment of a HIT that has more of them here than there, as faulty
    replies may have left behind: those that the marketplace does not have are lost."""
    for assignment in hit.assignments.undecided().select_related("account").order_by("pk"):
        with run.alone(HIT_NAME(hit)):
            ask_for(run, assignment)


def ask_for(run: Run, assignment: Assignment) -> bool:
    """Ask the marketplace about one assignment and take over what it says; whether that changed
    something. One that it does not have, or has from another worker, is lost."""
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
    """Note that the marketplace does not have a HIT any more, after what it still lists as
    submitted there was read: its other slots are promised to nobody. Unless it `is_certain`, one
    that was made a moment ago is asked for again by the next sync."""
    if not is_certain and hit.listed_at is None and run.at - hit.planned_at < MADE_LATELY:
        return
    try:
        for listed in run.marketplace.assignments(hit.hit_id or ""):
            with run.alone(HIT_NAME(hit)):
                if isinstance(listed, StrangeReply):
                    raise listed
                ingest_assignment(run, hit, listed)
    except MarketplaceError as error:
        if not error.says_gone:
            raise
    alive = Hit.objects.alive().created().filter(pk=hit.pk)
    if alive.update(status=HitStatus.GONE, available=0, pending=0, unread_since=None):
        run.done[Done.GONE] += 1
    recount(hit.pk)
    close_pages(hit.pages.values_list("pk", flat=True))


def _may_wait(run: Run, hit: Hit, *, is_partial: bool, unread: int) -> bool:
    """Whether a HIT with unread submissions is left until it is full: a HIT read once takes one
    call, read after each submission it takes nine. Nothing waits longer than the setting says."""
    is_due = run.at - (hit.unread_since or run.at) >= timedelta(
        seconds=settings.MTURK_READ_WAIT_SECONDS
    )
    return is_partial and unread > 0 and not is_due and hit.status == HitStatus.OPEN


def _note_unread(run: Run, hit: Hit, *, available: int) -> None:
    """Keep the counts of a HIT that waits: what was not read counts as still being written."""
    Hit.objects.filter(pk=hit.pk).update(
        available=available,
        pending=hit.slots - available - hit.ingested,
        unread_since=hit.unread_since or run.at,
    )


def adopt(hit: Hit, hit_id: str, expires_at: datetime | None) -> None:
    """Note that a planned HIT exists; it may have been made by a call whose answer was lost, or by
    another reconciler since `hit` was read."""
    planned = Hit.objects.filter(pk=hit.pk, status=HitStatus.PLANNED)
    if planned.update(
        status=HitStatus.OPEN, hit_id=hit_id, expires_at=expires_at, available=hit.slots
    ):
        hit.status, hit.hit_id, hit.available = HitStatus.OPEN, hit_id, hit.slots
    elif hit.status == HitStatus.PLANNED:
        hit.refresh_from_db()


def _note_listed(hit: Hit, listed: ListedHit, *, is_read: bool) -> int:
    """Keep the HIT's counts as they were listed; returns how many slots may still bring a
    submission although they are not free. Submissions that could not be read are among them, so
    that their money stays promised."""
    available = 0 if listed.is_closed else min(listed.available, hit.slots)
    unread = max(0, listed.submitted - hit.assignments.not_lost().count())
    if is_read and listed.is_over:
        unread = 0  # A marketplace may count slots of an expired HIT as taken that nobody took.
    pending = min(listed.pending + unread, hit.slots - available)
    status = HitStatus(hit.status)
    if listed.is_closed:
        status = HitStatus.EXPIRED
    elif listed.status == ListedStatus.ASSIGNABLE:
        status = HitStatus.OPEN
    _note_counts(
        hit,
        available=available,
        pending=pending,
        status=status,
        expires_at=listed.expires_at,
        listed_at=timezone.now(),
    )
    return pending


def _note_counts(hit: Hit, *, available: int, pending: int, **values: Any) -> None:
    alive = Hit.objects.alive().filter(pk=hit.pk)
    alive.update(available=available, pending=pending, unread_since=None, **values)
    recount(hit.pk)


@transaction.atomic
def ingest_assignment(run: Run, hit: Hit, listed: ListedAssignment) -> None:
    """Take over one submitted assignment; one that is known already changes nothing but its
    decision."""
    assignment, is_new = take_submission(campaign=run.campaign, hit=hit, listed=listed, at=run.at)
    lost = Assignment.objects.filter(pk=assignment.pk, status=AssignmentStatus.LOST)
    lost.update(status=AssignmentStatus.SUBMITTED, decided_at=None)
    note_decision(assignment, listed)
    run.sync.ingested += is_new


def note_decision(assignment: Assignment, listed: ListedAssignment) -> bool:
    """Take over the marketplace's decision; here an assignment is decided only after there."""
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
