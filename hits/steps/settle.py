"""Settle: pay what the review window is over for, and reject what a reviewer decided to reject.

An assignment is approved here only after it was there; a call that finds it decided already reads
what the decision was.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from annotate.models import ResponseStatus
from hits.client import MarketplaceError
from hits.models import Assignment, AssignmentStatus, Bonus, Hit
from hits.steps.ingest import STATUSES, note_decision
from hits.steps.run import Run
from qualcontrol.models import Act, Decision


def settle(run: Run) -> None:
    """Carry out the rejections, approve what is due, send the bonuses that are planned."""
    rejections = _rejections(run)
    for assignment in _submitted(run).filter(pk__in=rejections):
        _decide(run, assignment, reason=rejections[assignment.pk])
    window = timedelta(hours=run.campaign.config.review.approve_after_hours)
    for assignment in _submitted(run).filter(submitted_at__lte=timezone.now() - window):
        _decide(run, assignment)
    for bonus in Bonus.objects.filter(assignment__hit__campaign=run.campaign, sent_at=None):
        send(run, bonus)


def _submitted(run: Run) -> QuerySet[Assignment]:
    return Assignment.objects.of(run.campaign).filter(status=AssignmentStatus.SUBMITTED)


def _rejections(run: Run) -> dict[int, str]:
    """The assignments that a reviewer wants rejected, with the reason that the worker reads."""
    decided = Decision.objects.filter(
        campaign=run.campaign,
        act=Act.REJECT,
        response__claim__assignments__status=AssignmentStatus.SUBMITTED,
    )
    reasons = dict(decided.order_by("pk").values_list("response__claim__assignments", "reason"))
    # Restored since, in whole or in part: what is used is paid.
    in_use = Assignment.objects.filter(
        pk__in=reasons, claims__response__status=ResponseStatus.SUBMITTED
    ).values_list("pk", flat=True)
    return {pk: reason for pk, reason in reasons.items() if pk not in set(in_use)}


def _decide(run: Run, assignment: Assignment, reason: str = "") -> None:
    try:
        if reason:
            run.marketplace.reject(assignment.assignment_id, reason)
        else:
            run.marketplace.approve(assignment.assignment_id)
    except MarketplaceError as error:
        if not error.says_wrong_state:
            raise
    else:
        status = AssignmentStatus.REJECTED if reason else AssignmentStatus.APPROVED
        _record(run, assignment, status, reason)
        return
    # Decided before, by a call whose answer was lost or by the marketplace itself.
    listed = run.marketplace.assignment(assignment.assignment_id)
    with transaction.atomic():
        if note_decision(assignment, listed):
            _note_settled(run, assignment, STATUSES[listed["AssignmentStatus"]])


@transaction.atomic
def _record(run: Run, assignment: Assignment, status: AssignmentStatus, reason: str) -> None:
    submitted = Assignment.objects.filter(pk=assignment.pk, status=AssignmentStatus.SUBMITTED)
    if submitted.update(status=status, decided_at=timezone.now(), feedback=reason):
        _note_settled(run, assignment, status)


def _note_settled(run: Run, assignment: Assignment, status: AssignmentStatus) -> None:
    """Keep the HIT's count in step, or the next listing would look as if it had changed there."""
    Hit.objects.filter(pk=assignment.hit_id).update(settled=F("settled") + 1)
    if status == AssignmentStatus.APPROVED:
        run.sync.approved += 1
    else:
        run.sync.rejected += 1


def send(run: Run, bonus: Bonus) -> None:
    """Pay a planned bonus; its token makes a second call harmless."""
    assignment = bonus.assignment
    run.marketplace.send_bonus(
        worker_id=assignment.account.marketplace_id,
        assignment_id=assignment.assignment_id,
        amount=bonus.amount,
        reason=bonus.reason,
        token=bonus.token,
    )
    Bonus.objects.filter(pk=bonus.pk, sent_at=None).update(sent_at=timezone.now())
