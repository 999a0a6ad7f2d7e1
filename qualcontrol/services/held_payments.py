"""Payments that wait for a person's decision. The callers lock the worker."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from annotate.models import Campaign, Response, Worker
from qualcontrol.flags import BREAKS_RULES, Flag
from qualcontrol.models import (
    Act,
    Decision,
    HeldCause,
    HeldOutcome,
    HeldPayment,
)
from qualcontrol.services.discards import discard
from qualcontrol.services.errors import AlreadyDecided, CannotReject, reason_given


def rules_flag(problems: Sequence[str]) -> Flag:
    """The flag of an answer that reached the site through the marketplace only, and that the task
    page would have refused, with the page's messages."""
    return Flag(BREAKS_RULES, len(problems), 1, " ".join(problems))


def hold_payment(
    *,
    campaign: Campaign,
    worker: Worker,
    submission: int,
    cause: HeldCause,
    why: str,
    at: datetime,
) -> None:
    """Hold the payment of the submission with this key."""
    HeldPayment.objects.create(
        campaign=campaign,
        worker=worker,
        submission_id=submission,
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
    captions that break the rules. The caller holds the locks of `lock_worker`.

    Raises AlreadyDecided, ReasonMissing, or CannotReject if other captions of it are in use.
    """
    reason = reason_given(reason, "rejection")
    decision = _log(held, Act.REJECT, reason, actor, at)
    end_hold(held=held, outcome=HeldOutcome.REJECT, at=at, decision=decision)
    counting = Response.objects.counting().filter(submission=held.submission_id)
    against = [response for response in counting.select_related("assessment") if _breaks(response)]
    if len(against) < counting.count():
        raise CannotReject(
            "Other responses of the same assignment are in use. Work that is used is paid."
        )
    discard(against, campaign=held.campaign, reason=reason, actor=actor, at=at)


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


def forgive_unplaced(*, campaign: Campaign, worker: Worker) -> None:
    """Stop the policy from acting against the worker until another answer fits no task."""
    HeldPayment.objects.of(campaign).filter(worker=worker).update(is_forgiven=True)


def flags_of(
    responses: Collection[Response], problems: Mapping[int, Sequence[str]]
) -> dict[int, list[Flag]]:
    """For each response with problems, the flag with these problems, by response."""
    return {
        response.pk: [rules_flag(problems[response.pk])]
        for response in responses
        if problems.get(response.pk)
    }
