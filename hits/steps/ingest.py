"""Ingest: read what the marketplace says was submitted, and join it to what is stored here.

ListHITs gives each HIT's counts, a hundred HITs a call; only HITs whose counts differ from what
was read before are asked for their assignments. A HIT that an event named is asked in any case.
Between two listings of everything such HITs are the only ones read; where there are no events, it
is the HITs whose answers were stored here, since an answer comes here before it goes there.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from defusedxml import DefusedXmlException
from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Max, Q

from annotate.kinds import KINDS, AnswerMissing
from annotate.models import Claim, Response, ResponseStatus, Task, Worker
from annotate.services import claims as claim_services
from annotate.services.responses import confirm_submitted, store_answer
from hits.answers import UnreadableAnswer, parse_answer
from hits.client import MarketplaceError
from hits.models import DECIDED, Assignment, AssignmentStatus, Hit, HitStatus, WorkerAccount
from hits.services.accounts import account_for
from hits.steps.run import Run
from qualcontrol.services import review_submitted

log = logging.getLogger(__name__)

STATUSES = {
    "Submitted": AssignmentStatus.SUBMITTED,
    "Approved": AssignmentStatus.APPROVED,
    "Rejected": AssignmentStatus.REJECTED,
}


# The browser submits an answer right after it was stored here.
SUBMITTED_WITHIN = timedelta(minutes=1)


def ingest(run: Run) -> None:
    """Bring the campaign's HITs, assignments and responses up to the marketplace's state."""
    if run.sync.is_whole:
        _ingest_all(run)
    else:
        _ingest_named(run)
        if not settings.MTURK_NOTIFICATION_QUEUE_URL:
            _ingest_answered(run)
            return  # A lease ends only after a listing said that nothing was submitted under it.
    lapsed = Claim.objects.lapsed(run.at).filter(task__campaign=run.campaign)
    # What was submitted in a HIT that waits to be read keeps its place.
    waiting = Hit.objects.filter(unread_since__isnull=False)
    claim_services.release_claims(claims=lapsed.exclude(assignments__hit__in=waiting))


def _ingest_all(run: Run) -> None:
    hits = {hit.token: hit for hit in run.campaign.hits.alive()}
    for listed in run.marketplace.hits():
        hit = hits.pop(listed.get("RequesterAnnotation", ""), None)
        if hit is not None:
            _ingest_hit(run, hit, listed)
        if not hits:
            break  # No HIT of the campaign can be on a later page.


def _ingest_named(run: Run) -> None:
    for hit in run.campaign.hits.alive().filter(hit_id__in=run.named).order_by("pk"):
        try:
            _ingest_hit(run, hit, run.marketplace.hit(hit.hit_id or ""))
        except MarketplaceError as error:
            # Deleted in the meantime, which is done only when nothing of it is left to read.
            if not error.says_gone:
                raise


def _ingest_answered(run: Run) -> None:
    """Read the HITs with answers that were stored here and may be submitted by now, with a call
    for each. An answer that was not submitted within a minute waits for the next listing."""
    unread = Q(assignments__status=AssignmentStatus.OPENED) & Q(
        assignments__claims__response__status=ResponseStatus.STORED
    )
    hits = run.campaign.hits.alive().annotate(
        answered=Count("assignments", filter=unread, distinct=True),
        answered_at=Max("assignments__claims__response__stored_at", filter=unread),
    )
    lately = Q(read_at=None) | Q(answered_at__gt=F("read_at") - SUBMITTED_WITHIN)
    for hit in hits.filter(lately, answered__gt=0).order_by("pk"):
        answered: int = hit.answered  # type: ignore[attr-defined]
        is_partial = hit.ingested + answered < hit.seats
        if _may_wait(run, hit, is_partial=is_partial, unread=answered):
            _note_unread(run, hit, available=min(hit.available, hit.seats - hit.ingested))
            continue
        for assignment in run.marketplace.assignments(
            hit.hit_id or "", most=hit.ingested + answered
        ):
            ingest_assignment(run, hit, assignment)
        _note_read(run, hit)


def _note_read(run: Run, hit: Hit) -> None:
    """Recount a HIT that was read but not listed: a seat that was free then counts as free still,
    as far as it can be."""
    Hit.objects.filter(pk=hit.pk).update(read_at=run.at)
    open_seats = hit.seats - hit.assignments.ingested().count()
    available = min(hit.available, open_seats)
    _note_counts(
        run,
        hit,
        available=available,
        pending=open_seats - available,
        expires_at=hit.expires_at or run.at,
    )


def _ingest_hit(run: Run, hit: Hit, listed: dict[str, Any]) -> None:
    adopt(hit, listed["HITId"], listed["Expiration"])
    available = listed["NumberOfAssignmentsAvailable"]
    pending = listed["NumberOfAssignmentsPending"]
    submitted = listed["MaxAssignments"] - available - pending
    if _may_wait(run, hit, is_partial=available + pending > 0, unread=submitted - hit.ingested):
        _note_unread(run, hit, available=available)
        return
    # The counts of a HIT may be a moment behind the event that named it.
    is_changed = submitted != hit.ingested or listed["NumberOfAssignmentsCompleted"] != hit.settled
    if is_changed or hit.hit_id in run.named:
        # One that is submitted after the listing changes the counts, and is read the next time.
        for assignment in run.marketplace.assignments(hit.hit_id or "", most=submitted):
            ingest_assignment(run, hit, assignment)
    _note_counts(run, hit, available=available, pending=pending, expires_at=listed["Expiration"])
    if pending == 0:
        # Nobody is at work in this HIT, so who opened a page of it before has given it back.
        left = Claim.objects.held().filter(assignments__hit=hit, claimed_at__lt=run.at)
        claim_services.release_claims(claims=left)


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
        pending=hit.seats - available - hit.ingested,
        unread_since=hit.unread_since or run.at,
    )


def adopt(hit: Hit, hit_id: str, expires_at: datetime) -> None:
    """Note that a planned HIT exists; it may have been made by a call whose answer was lost, or by
    another reconciler since `hit` was read."""
    planned = Hit.objects.filter(pk=hit.pk, status=HitStatus.PLANNED)
    if planned.update(
        status=HitStatus.OPEN, hit_id=hit_id, expires_at=expires_at, available=hit.seats
    ):
        hit.status, hit.hit_id, hit.available = HitStatus.OPEN, hit_id, hit.seats
    elif hit.status == HitStatus.PLANNED:
        hit.refresh_from_db()


def _note_counts(run: Run, hit: Hit, *, available: int, pending: int, expires_at: datetime) -> None:
    """Keep the counts as they were listed, and recount what was read of this HIT."""
    expired = expires_at <= run.at
    counts = hit.assignments.aggregate(
        ingested=Count("pk", filter=~Q(status=AssignmentStatus.OPENED)),
        settled=Count("pk", filter=Q(status__in=DECIDED)),
    )
    hit.available, hit.pending = (0 if expired else available), pending
    if expired and hit.status == HitStatus.OPEN:
        hit.status = HitStatus.EXPIRED
    Hit.objects.filter(pk=hit.pk).exclude(status=HitStatus.RETIRED).update(
        available=hit.available,
        pending=hit.pending,
        status=hit.status,
        expires_at=expires_at,
        unread_since=None,
        **counts,
    )


@transaction.atomic
def ingest_assignment(run: Run, hit: Hit, listed: dict[str, Any]) -> None:
    """Take over one submitted assignment; one that is known already changes nothing but its
    decision."""
    account = account_for(endpoint=run.campaign.endpoint, marketplace_id=listed["WorkerId"])
    # Worker first, then tasks, as everywhere: an exclusion of this worker takes the same way.
    Worker.objects.select_for_update().get(pk=account.worker_id)
    assignment, _ = Assignment.objects.get_or_create(
        assignment_id=listed["AssignmentId"], account=account, defaults={"hit": hit}
    )
    opened = Assignment.objects.filter(pk=assignment.pk, status=AssignmentStatus.OPENED)
    if opened.update(
        status=AssignmentStatus.SUBMITTED,
        hit=hit,
        accepted_at=listed["AcceptTime"],
        submitted_at=listed["SubmitTime"],
    ):
        responses = _place_answer(run, assignment, account, listed.get("Answer", ""))
        review_submitted(campaign=run.campaign, responses=responses, at=run.at)
        run.sync.ingested += 1
    note_decision(assignment, listed)


def note_decision(assignment: Assignment, listed: dict[str, Any]) -> bool:
    """Take over the marketplace's decision; here an assignment is decided only after there."""
    status = STATUSES[listed["AssignmentStatus"]]
    if status not in DECIDED:
        return False
    decided_at = listed.get("RejectionTime") or listed.get("ApprovalTime")
    if status == AssignmentStatus.APPROVED:
        decided_at = listed.get("ApprovalTime") or decided_at
    return bool(
        Assignment.objects.filter(pk=assignment.pk)
        .exclude(status__in=[AssignmentStatus.OPENED, status])
        .update(
            status=status,
            decided_at=decided_at,
            feedback=listed.get("RequesterFeedback", "")[:1024],
        )
    )


def _place_answer(
    run: Run, assignment: Assignment, account: WorkerAccount, xml: str
) -> list[Response]:
    """The responses that the answer makes up, now submitted; what fits nowhere is kept as it is."""
    try:
        fields = parse_answer(xml)
    except (UnreadableAnswer, DefusedXmlException):
        log.warning("The answer of %s is not readable; it is kept as it came.", assignment)
        Assignment.objects.filter(pk=assignment.pk).update(unplaced_answer=xml)
        fields = {}
    responses = _responses(run, assignment, account, fields)
    for response in responses:
        confirm_submitted(response=response, at=run.at)
    if not responses:
        Assignment.objects.filter(pk=assignment.pk).update(unplaced_answer=xml)
    return responses


def _responses(
    run: Run, assignment: Assignment, account: WorkerAccount, fields: Mapping[str, str]
) -> list[Response]:
    """A response for each task of the assignment: what the marketplace has goes before what is
    stored here, because only the worker could submit it there; either alone is enough."""
    claims = {
        claim.task_id: claim
        for claim in assignment.claims.filter(worker=account.worker).order_by("pk")
    }
    tasks = _tasks(run, list(claims), fields)
    kind = KINDS[run.campaign.kind]
    responses = []
    for task in tasks:
        stored = Response.objects.filter(task=task, worker=account.worker).first()
        if stored is not None and not _is_ours(stored, claims.get(task.pk)):
            continue
        try:
            answer = kind.read(task, fields)
        except AnswerMissing:
            if stored is not None:
                responses.append(stored)
            continue
        responses.append(
            store_answer(
                task=task,
                worker=account.worker,
                answer=answer,
                at=run.at,
                claim=claims.get(task.pk),
            )
        )
    return responses


def _is_ours(stored: Response, claim: Claim | None) -> bool:
    """Whether a stored response was made in this assignment and still waits to be submitted."""
    return stored.status == ResponseStatus.STORED and (
        stored.claim_id is None or (claim is not None and stored.claim_id == claim.pk)
    )


def _tasks(run: Run, claimed: list[int], fields: Mapping[str, str]) -> list[Task]:
    """The tasks that were claimed for the assignment; failing those, the ones that the answer's
    fields name, for a page that was filled in without our knowing."""
    tasks = run.campaign.tasks.with_subject()
    if claimed:
        return list(tasks.filter(pk__in=claimed).order_by("pk"))
    numbers = {int(end) for name in fields if (end := name.rsplit("-", 1)[-1]).isdecimal()}
    named = tasks.filter(number__in=sorted(numbers)[: run.campaign.config.hit.images])
    return list(named.order_by("pk"))
