"""Payments that wait for a person's decision.

`hits.services.held_payments` decides about assignments under the worker's lock, and calls these
services.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet

from annotate.models import Campaign, Response, ResponseStatus, Worker
from annotate.services import responses as response_services
from annotate.wording import counted
from qualcontrol.flags import Flag
from qualcontrol.models import (
    Act,
    Assessment,
    Decision,
    HeldCause,
    HeldOutcome,
    HeldPayment,
    SpotCheck,
)
from qualcontrol.services.decisions import log_response
from qualcontrol.services.errors import AlreadyDecided, CannotReject, reason_given

BREAKS_RULES = "breaks_rules"
# So many answers that fit no task, and that nobody accepted, lead to a pause of the worker.
LEAST_UNPLACED = 2


def rules_flag(problems: Sequence[str]) -> Flag:
    """The flag of an answer that reached the site through the marketplace only, and that the task
    page would have refused, with the page's messages."""
    return Flag(BREAKS_RULES, len(problems), 1, " ".join(problems))


def hold_payment(
    *,
    campaign: Campaign,
    worker: Worker,
    assignment: int,
    cause: HeldCause,
    why: str,
    at: datetime,
) -> None:
    """Hold the payment of the assignment with this key."""
    HeldPayment.objects.create(
        campaign=campaign,
        worker=worker,
        assignment_id=assignment,
        cause=cause,
        why=why[:1000],
        held_at=at,
    )


def end_hold(
    *, held: HeldPayment, outcome: HeldOutcome, at: datetime, decision: Decision | None = None
) -> None:
    """End a hold. Raises AlreadyDecided if it has ended."""
    waiting = HeldPayment.objects.open().filter(pk=held.pk)
    if not waiting.update(outcome=outcome, ended_at=at, decision=decision):
        raise AlreadyDecided("Somebody has already decided about this payment.")


@transaction.atomic
def accept_payment(*, held: HeldPayment, reason: str, actor: User, at: datetime) -> None:
    """Decide to pay a held assignment. The caller holds the worker's lock. Raises
    AlreadyDecided."""
    decision = _log(held, Act.PAY, reason.strip(), actor, at)
    end_hold(held=held, outcome=HeldOutcome.PAY, at=at, decision=decision)


@transaction.atomic
def refuse_payment(*, held: HeldPayment, reason: str, actor: User, at: datetime) -> None:
    """Decide to reject a held assignment, with a reason that the worker reads, and discard its
    captions that break the rules. The caller holds the worker's lock.

    Raises AlreadyDecided, ReasonMissing, or CannotReject if other captions of it are in use.
    """
    reason = reason_given(reason, "rejection")
    decision = _log(held, Act.REJECT, reason, actor, at)
    end_hold(held=held, outcome=HeldOutcome.REJECT, at=at, decision=decision)
    counting = Response.objects.filter(
        assignment=held.assignment_id, status=ResponseStatus.SUBMITTED
    )
    against = [response for response in counting.select_related("assessment") if _breaks(response)]
    if len(against) < counting.count():
        raise CannotReject(
            "Other responses of the same assignment are in use. Work that is used is paid."
        )
    for response in response_services.discard(responses=against):
        log_response(
            response, campaign=held.campaign, act=Act.DISCARD, reason=reason, actor=actor, at=at
        )


def _breaks(response: Response) -> bool:
    return BREAKS_RULES in response.assessment.codes.split()


def _log(held: HeldPayment, act: Act, reason: str, actor: User, at: datetime) -> Decision:
    return Decision.objects.create(
        campaign_id=held.campaign_id,
        act=act,
        worker_id=held.worker_id,
        reason=reason,
        actor=actor,
        at=at,
    )


def end_hold_if_judged(*, response: Response, at: datetime) -> None:
    """End the hold of the response's assignment if all its responses that break the rules have
    verdicts. The caller holds the worker's lock."""
    held = HeldPayment.objects.open().filter(
        cause=HeldCause.RULES, assignment=response.assignment_id
    )
    if response.assignment_id is None or not held.exists():
        return
    theirs = Assessment.objects.filter(response__assignment=response.assignment_id)
    breaking = [row.pk for row in theirs if BREAKS_RULES in row.codes.split()]
    judged = SpotCheck.objects.filter(response__in=breaking).exclude(verdict="")
    if judged.count() == len(breaking):
        held.update(outcome=HeldOutcome.JUDGED, ended_at=at)


def senders_of_unplaced(campaign: Campaign) -> QuerySet[Worker]:
    """The workers with several answers that fit no task and that nobody accepted, at least one of
    them since a person last let the worker continue."""
    rows = HeldPayment.objects.of(campaign).against_worker().order_by().values("worker")
    counted_rows = rows.annotate(n=Count("pk"), new=Count("pk", filter=Q(is_forgiven=False)))
    return Worker.objects.filter(
        pk__in=counted_rows.filter(n__gte=LEAST_UNPLACED, new__gt=0).values("worker")
    )


def why_unplaced(campaign: Campaign, worker: Worker) -> str:
    """The reason for the pause, in a sentence."""
    number = HeldPayment.objects.of(campaign).against_worker().filter(worker=worker).count()
    return f"{counted(number, 'submitted answer fits', 'submitted answers fit')} no task"


def forgive_unplaced(*, campaign: Campaign, worker: Worker) -> None:
    """Stop the policy from acting against the worker until another answer fits no task."""
    HeldPayment.objects.of(campaign).filter(worker=worker).update(is_forgiven=True)


def flags_of(
    responses: Collection[Response], problems: Mapping[int, Sequence[str]]
) -> dict[int, list[Flag]]:
    """For each response whose task has problems, the flag with these problems, by response."""
    return {
        response.pk: [rules_flag(problems[response.task_id])]
        for response in responses
        if problems.get(response.task_id)
    }
