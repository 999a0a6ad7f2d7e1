"""Store submitted assignments that the marketplace lists, its decisions on them, and how many of
each there are in a HIT."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Count, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Least

from hits.models import DECIDED, Assignment, AssignmentStatus, Hit
from hits.models.hits import AssignmentQuerySet
from hits.mturk.connection import MarketplaceError, StrangeReply
from hits.mturk.replies import ListedAssignment
from hits.reconcile.run import Run, hit_name
from hits.services.accounts import ERASED, stored_ids
from hits.services.payments import find, lapse_held, lose
from hits.services.submissions import Reported, of_erased, take_submissions
from shared.database.transactions import batches


def store_submissions(run: Run, reported: Sequence[Reported]) -> None:
    """Store submitted assignments in one transaction. If this fails, store each by itself, so that
    only those that fail are missing."""
    try:
        ingest_assignments(run, reported)
    except (InterfaceError, OperationalError):
        raise
    except Exception:
        for hit, listed in reported:
            store_each(run, hit, [listed])


def store_each(run: Run, hit: Hit, assignments: Iterable[ListedAssignment | StrangeReply]) -> None:
    """Store each listed assignment by itself; record errors under the HIT's name."""
    for listed in assignments:
        with run.alone(hit_name(hit), begins=False, ends=False):
            if isinstance(listed, StrangeReply):
                raise listed
            ingest_assignments(run, [Reported(hit, listed)])


def ingest_assignments(run: Run, reported: Sequence[Reported]) -> None:
    """Store submitted assignments. If one is stored already, update only its status."""
    erased = of_erased(reported)
    for entry, key in erased.items():
        _note_found(run, key, entry.listed)
    reported = [entry for entry in reported if entry not in erased]
    if not reported:
        return
    with transaction.atomic():
        rows = take_submissions(campaign=run.campaign, reported=reported, at=run.at)
        for (assignment, _), (_, listed) in zip(rows, reported, strict=True):
            if assignment.status not in (AssignmentStatus.LOST, listed.status.name):
                note_decision(assignment, listed)
    run.sync.ingested += sum(is_new for _, is_new in rows)
    for (assignment, _), (_, listed) in zip(rows, reported, strict=True):
        if assignment.status == AssignmentStatus.LOST:
            _note_found(run, assignment.pk, listed)


@transaction.atomic
def _note_found(run: Run, key: int, listed: ListedAssignment) -> None:
    """Store the marketplace's status of an assignment that may have been lost."""
    find(assignment=key, at=run.at)
    note_decision(Assignment.objects.get(pk=key), listed)


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
        with run.alone(hit_name(hit), begins=False, ends=False):
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
        return _note_lost(run, assignment)
    account = assignment.account
    is_erased = account.marketplace_id.startswith(ERASED)
    if not is_erased and account.marketplace_id not in stored_ids(
        account.endpoint, listed.worker_id
    ):
        return _note_lost(run, assignment)
    return note_decision(assignment, listed)


def _note_lost(run: Run, assignment: Assignment) -> bool:
    is_lost = lose(assignment=assignment, at=run.at)
    recount([assignment.hit_id])
    return is_lost


def recount(keys: Collection[int]) -> None:
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
    """The number of the rows of each HIT that has any, by the HIT's key."""
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
