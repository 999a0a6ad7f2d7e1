"""Store submitted assignments that the marketplace lists, its decisions on them, and how many of
each there are in a HIT."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Count, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Least

from annotate.services.places import batches
from hits.models import DECIDED, Assignment, AssignmentStatus, Hit
from hits.models.hits import AssignmentQuerySet
from hits.mturk.client import MarketplaceError, StrangeReply
from hits.mturk.replies import ListedAssignment
from hits.reconcile.run import HIT_NAME, Run
from hits.services.payments import hold_found, lapse_held, lock_assignment
from hits.services.submissions import Reported, take_submissions, without_erased


def store(run: Run, reported: Sequence[Reported]) -> None:
    """Store submitted assignments in one transaction. If this fails, store each by itself, so that
    only those that fail are missing."""
    try:
        ingest_assignments(run, reported)
    except (InterfaceError, OperationalError):
        raise
    except Exception:
        for hit, listed in reported:
            store_each(run, hit, [listed])


def store_each(run: Run, hit: Hit, found: Iterable[ListedAssignment | StrangeReply]) -> None:
    """Store each listed assignment by itself; record errors under the HIT's name."""
    for listed in found:
        with run.alone(HIT_NAME(hit), begins=False, ends=False):
            if isinstance(listed, StrangeReply):
                raise listed
            ingest_assignments(run, [Reported(hit, listed)])


def ingest_assignments(run: Run, reported: Sequence[Reported]) -> None:
    """Store submitted assignments. If one is stored already, update only its status."""
    reported = without_erased(reported)
    if not reported:
        return
    with transaction.atomic():
        rows = take_submissions(campaign=run.campaign, reported=reported, at=run.at)
        for (assignment, _), (_, each) in zip(rows, reported, strict=True):
            if assignment.status == AssignmentStatus.LOST:
                lost = Assignment.objects.filter(pk=assignment.pk, status=AssignmentStatus.LOST)
                if lost.update(status=AssignmentStatus.SUBMITTED, decided_at=None):
                    hold_found(assignment=assignment.pk)
            if assignment.status != each.status.name:
                note_decision(assignment, each)
    run.sync.ingested += sum(is_new for _, is_new in rows)


def note_decision(assignment: Assignment, listed: ListedAssignment) -> bool:
    """Store the marketplace's decision on an assignment; return whether this changed it.

    An assignment is never decided here before it is decided at the marketplace.
    """
    status = AssignmentStatus[listed.status.name]
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
    with transaction.atomic():
        lock_assignment(assignment.pk)  # another sync may find it
        lost = undecided.update(status=AssignmentStatus.LOST, deciding="", decided_at=run.at)
        lapse_held(assignment=assignment.pk, at=run.at)
    recount(assignment.hit_id)
    return bool(lost)


def recount(pk: int) -> None:
    """Count the assignments of one HIT; see `recount_all`."""
    recount_all([pk])


def recount_all(keys: Collection[int]) -> None:
    """Count each HIT's assignments that were ingested and those that are decided, and store both.

    Faulty replies may have added more assignments than a HIT has slots, so the counts are at most
    the number of slots. Surplus assignments no longer count once they are marked as lost.
    """
    for batch in batches(sorted(keys)):
        with transaction.atomic(savepoint=False):
            # The statement that counts must begin after others have stored their counts.
            _lock(batch)
            _store_counts(batch)


@transaction.atomic
def store_with_counts(hits: Sequence[Hit], *, columns: Sequence[str]) -> None:
    """Store these columns of the HITs that are alive, and count the HITs' assignments."""
    keys = [hit.pk for hit in hits]
    _lock(keys)
    Hit.objects.alive().bulk_update(hits, columns)
    _store_counts(keys)


def numbers_by_hit(rows: QuerySet[Any]) -> dict[int, int]:
    """Return the number of the rows of each HIT that has any, by the HIT's key."""
    return dict(rows.order_by().values_list("hit").annotate(Count("pk")))


def _store_counts(keys: Collection[int]) -> None:
    """Count the assignments of these HITs, which are locked."""
    there = Assignment.objects.not_lost()
    decided = there.filter(status__in=DECIDED)
    Hit.objects.filter(pk__in=keys).update(ingested=_number(there), settled=_number(decided))


def _lock(keys: Collection[int]) -> None:
    list(
        Hit.objects.select_for_update(no_key=True)
        .filter(pk__in=keys)
        .order_by("pk")
        .values_list("pk")
    )


def _number(assignments: AssignmentQuerySet) -> Least:
    of_hit = assignments.filter(hit=OuterRef("pk")).order_by().values("hit")
    number = Subquery(of_hit.annotate(number=Count("pk")).values("number"))
    return Least(F("slots"), Coalesce(number, Value(0)))
