"""Store submitted assignments that the marketplace lists, and its decisions on them."""

from collections.abc import Iterable, Sequence

from django.db import InterfaceError, OperationalError, transaction

from hits.models import DECIDED, Assignment, AssignmentStatus, Hit
from hits.mturk.client import MarketplaceError, StrangeReply
from hits.mturk.replies import ListedAssignment, ListedAssignmentStatus
from hits.reconcile.run import HIT_NAME, Run
from hits.services.counts import recount
from hits.services.payments import lapse_held
from hits.services.submissions import Reported, take_submissions

STATUSES = {
    ListedAssignmentStatus.SUBMITTED: AssignmentStatus.SUBMITTED,
    ListedAssignmentStatus.APPROVED: AssignmentStatus.APPROVED,
    ListedAssignmentStatus.REJECTED: AssignmentStatus.REJECTED,
}


def store_together(run: Run, reported: Sequence[Reported]) -> bool:
    """Store submitted assignments in one transaction; return whether this succeeded.

    If it fails, the caller stores fewer together, so that only those that fail are missing.
    """
    try:
        ingest_assignments(run, reported)
    except (InterfaceError, OperationalError):
        raise
    except Exception:
        return False
    return True


def store_apart(run: Run, hit: Hit, listed: Sequence[ListedAssignment]) -> None:
    """Store a HIT's submitted assignments together or, if this fails, each by itself. Errors are
    recorded under the HIT's name."""
    if not store_together(run, [Reported(hit, each) for each in listed]):
        store_each(run, hit, listed)


def store_each(run: Run, hit: Hit, found: Iterable[ListedAssignment | StrangeReply]) -> None:
    """Store each listed assignment by itself; record the errors of those that cannot be read."""
    for listed in found:
        with run.alone(HIT_NAME(hit), begins=False, ends=False):
            if isinstance(listed, StrangeReply):
                raise listed
            ingest_assignments(run, [Reported(hit, listed)])


def ingest_assignments(run: Run, reported: Sequence[Reported]) -> None:
    """Store submitted assignments. If one is stored already, update only its status."""
    if not reported:
        return
    with transaction.atomic():
        rows = take_submissions(campaign=run.campaign, reported=reported, at=run.at)
        for (assignment, _), (_, each) in zip(rows, reported, strict=True):
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


def ask_for_surplus(run: Run, hit: Hit) -> None:
    """Request each undecided assignment of a HIT that has more assignments here than are listed.

    Faulty replies may have added them. Those that the marketplace does not have are marked as lost.
    """
    for assignment in hit.assignments.undecided().select_related("account").order_by("pk"):
        with run.alone(HIT_NAME(hit), begins=False, ends=False):
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
