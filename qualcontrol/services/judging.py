"""A reviewer's judgement of one response."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from annotate.errors import DomainError
from annotate.models import Response, ResponseStatus, Worker
from annotate.services import responses as response_services
from qualcontrol.models import Act, Decision, SpotCheck, Verdict


class AlreadyJudged(DomainError):
    """The spot check is open no more."""


class ReasonMissing(DomainError):
    """An act against a worker says why."""


class CannotReject(DomainError):
    """The work is used, or its rejection was asked for before."""


@transaction.atomic
def judge(
    *,
    spot_check: SpotCheck,
    verdict: Verdict | str,
    reason: str,
    reviewer: User | None,
    at: datetime,
) -> None:
    """Close a spot check; a bad response is discarded. Raises AlreadyJudged, ReasonMissing."""
    verdict, reason = Verdict(verdict), reason.strip()
    if verdict == Verdict.BAD and not reason:
        raise ReasonMissing("Say what is wrong with the caption: a bad verdict needs a reason.")
    response = _locked(spot_check.response_id)
    if response.status != ResponseStatus.SUBMITTED:
        raise AlreadyJudged("This caption was discarded meanwhile; it needs no judgement.")
    is_open = SpotCheck.objects.filter(pk=spot_check.pk, verdict="")
    if not is_open.update(verdict=verdict, reason=reason, judged_at=at, reviewer=reviewer):
        raise AlreadyJudged("Somebody else has judged this caption meanwhile.")

    campaign = response.task.campaign
    act = Act.JUDGE_GOOD if verdict == Verdict.GOOD else Act.JUDGE_BAD
    Decision.objects.create(
        campaign=campaign, act=act, response=response, reason=reason, actor=reviewer, at=at
    )
    if verdict == Verdict.BAD:
        response_services.discard(responses=[response])
        Decision.objects.create(
            campaign=campaign,
            act=Act.DISCARD,
            response=response,
            reason=reason,
            actor=reviewer,
            at=at,
        )


@transaction.atomic
def reject_response(*, response: Response, reason: str, actor: User | None, at: datetime) -> None:
    """Ask for the assignment's rejection, which the reconciler carries out.

    Raises ReasonMissing, and CannotReject where the caption still counts: what is used is paid.
    """
    reason = reason.strip()
    if not reason:
        raise ReasonMissing("Give a reason for the rejection: the worker will read it.")
    response = _locked(response.pk)
    if response.status != ResponseStatus.DISCARDED:
        raise CannotReject("Only discarded work can be rejected: work that is used is paid.")
    if Decision.objects.filter(response=response, act=Act.REJECT).exists():
        raise CannotReject("The rejection of this response was asked for already.")
    Decision.objects.create(
        campaign=response.task.campaign,
        act=Act.REJECT,
        response=response,
        reason=reason,
        actor=actor,
        at=at,
    )


def _locked(response_pk: int) -> Response:
    """The response as it is now; its worker's other decisions wait until this one is made."""
    Worker.objects.select_for_update(of=("self",)).get(responses=response_pk)
    locked = Response.objects.select_related("task__campaign").select_for_update(of=("self",))
    return locked.get(pk=response_pk)
