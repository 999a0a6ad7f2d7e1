"""Payments that wait for a person's decision. The callers lock the worker."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from annotate.models import Campaign, Response, Worker
from qualcontrol.flags import BREAKS_RULES, Flag, codes
from qualcontrol.models import (
    Act,
    Assessment,
    Decision,
    HeldCause,
    HeldOutcome,
    HeldPayment,
    SpotCheck,
    Verdict,
)
from qualcontrol.services.discards import discard_and_log
from qualcontrol.services.errors import AlreadyDecided, CannotReject, reason_given
from qualcontrol.services.worker_risks import note_changes


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
    captions that break the rules. The caller holds the locks of `lock_worker`, and has called
    `lock_check_share`.

    Raises AlreadyDecided, ReasonMissing, or CannotReject if other captions of it are in use.
    """
    reason = reason_given(reason, "rejection")
    decision = _log(held, Act.REJECT, reason, actor, at)
    end_hold(held=held, outcome=HeldOutcome.REJECT, at=at, decision=decision)
    counting = Response.objects.counting().filter(submission=held.submission_id)
    not_good = counting.exclude(spot_check__verdict=Verdict.GOOD).select_related("assessment")
    against = [
        response for response in not_good if BREAKS_RULES in response.assessment.codes.split()
    ]
    if len(against) < counting.count():
        raise CannotReject(
            "Other responses of the same assignment are in use. Work that is used is paid."
        )
    discard_and_log(against, campaign=held.campaign, reason=reason, actor=actor, at=at)


def end_if_judged(*, submission: int | None, at: datetime) -> None:
    """End the hold of a submission whose responses break the rules once these are judged."""
    held = HeldPayment.objects.open().filter(cause=HeldCause.RULES, submission=submission)
    if submission is not None and held.exists() and _is_judged(submission):
        held.update(outcome=HeldOutcome.JUDGED, ended_at=at)


def hold_again(submission: int | None) -> None:
    """Hold a payment again that verdicts released, if one of them was taken back since, unless it
    is decided."""
    released = HeldPayment.objects.filter(outcome=HeldOutcome.JUDGED, is_settled=False)
    released = released.filter(submission=submission)
    if submission is not None and released.exists() and not _is_judged(submission):
        released.update(outcome="", ended_at=None)


WITHOUT_VERDICT = Q(spot_check=None) | Q(spot_check__verdict="")


def _is_judged(submission: int) -> bool:
    """Whether the submission's responses that break the rules, if any, have verdicts: at least one,
    and all that nobody has withdrawn."""
    theirs = Assessment.objects.filter(response__submission=submission)
    keys = [assessment.pk for assessment in theirs if BREAKS_RULES in assessment.codes.split()]
    breaking = Response.objects.filter(pk__in=keys)
    waiting = breaking.filter(WITHOUT_VERDICT, withdrawn_at=None)
    return not keys or (breaking.exclude(WITHOUT_VERDICT).exists() and not waiting.exists())


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


@transaction.atomic(savepoint=False)
def drop_problem(
    *, campaign: Campaign, worker: Worker, submissions: QuerySet[Any], problem: str
) -> None:
    """Take back that answers of these submissions break this rule: the flags, with the checks that
    nobody has begun, and the holds of payments that nobody has decided about. The caller has locked
    the worker, called `lock_check_share` and locked the tasks."""
    waiting = HeldPayment.objects.open().filter(submission__in=submissions, cause=HeldCause.RULES)
    for held in waiting.filter(why__contains=problem):
        if other_problems := _without(held.why, problem):
            HeldPayment.objects.filter(pk=held.pk).update(why=other_problems)
        else:
            held.delete()
    assessed = Assessment.objects.filter(response__submission__in=submissions)
    for assessment in assessed.filter(worker=worker, codes__contains=BREAKS_RULES):
        flags = [Flag.from_json(values) for values in assessment.flags]
        flags = [
            replace(flag, value=flag.value - 1, why=_without(flag.why, problem))
            if flag.code == BREAKS_RULES and problem in flag.why
            else flag
            for flag in flags
        ]
        flags = [flag for flag in flags if flag.why]
        assessment.flags = [flag.as_json() for flag in flags]
        assessment.codes = " ".join(codes(flags))
        assessment.save(update_fields=["flags", "codes"])
        if BREAKS_RULES not in codes(flags):
            checks = SpotCheck.objects.filter(
                response=assessment.pk, is_random=False, is_first=False
            )
            checks.filter(verdict="", judgements=None).delete()
    note_changes(campaign, [worker.pk])


def _without(why: str, problem: str) -> str:
    return " ".join(why.replace(problem, "").split())
