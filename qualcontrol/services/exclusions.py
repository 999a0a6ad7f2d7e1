"""Keeping a worker out of a campaign, and letting them in again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotate.errors import DomainError
from annotate.models import Campaign, Response, ResponseStatus, Worker
from annotate.services import responses as response_services
from qualcontrol.models import Act, Decision, Exclusion, SpotCheck
from qualcontrol.services.judging import ReasonMissing
from qualcontrol.services.sampling import draw_spot_checks


class AlreadyExcluded(DomainError):
    """The worker is kept out of the campaign already."""


class NotExcluded(DomainError):
    """The worker is not kept out of the campaign."""


@dataclass(frozen=True)
class ExclusionPreview:
    """What excluding a worker would discard, and what replacing it would cost."""

    responses: int
    tasks_reopened: int
    open_spot_checks: int
    seats: int
    cost: Decimal


def exclusion_preview(
    *, campaign: Campaign, worker: Worker, seat_cost: Decimal
) -> ExclusionPreview:
    """The consequences of an exclusion; `seat_cost` is a seat's reward with its fee."""
    counting = Response.objects.of(campaign).counting().filter(worker=worker)
    # A task with more answers than it wanted does not reopen when it loses one.
    reopened = counting.filter(task__places_left__gte=0).count()
    seats = -(-reopened // campaign.config.hit.images)
    return ExclusionPreview(
        responses=counting.count(),
        tasks_reopened=reopened,
        open_spot_checks=SpotCheck.objects.of(campaign)
        .open()
        .filter(response__worker=worker)
        .count(),
        seats=seats,
        cost=seats * seat_cost,
    )


@transaction.atomic
def exclude_worker(
    *,
    campaign: Campaign,
    worker: Worker,
    reason: str,
    actor: User | None,
    at: datetime,
) -> int:
    """Keep a worker out and discard what they submitted; how many responses that were.

    Their tasks want as many more, and the reconciler tells the marketplace. Raises
    AlreadyExcluded, ReasonMissing.
    """
    reason = reason.strip()
    if not reason:
        raise ReasonMissing("Give a reason for the exclusion.")
    Worker.objects.select_for_update().get(pk=worker.pk)
    if Exclusion.objects.in_force().filter(campaign=campaign, worker=worker).exists():
        raise AlreadyExcluded(f"{worker} is excluded from {campaign} already.")
    Exclusion.objects.create(campaign=campaign, worker=worker, reason=reason, excluded_at=at)
    Decision.objects.create(
        campaign=campaign, act=Act.EXCLUDE, worker=worker, reason=reason, actor=actor, at=at
    )
    return _discard_for_exclusion(
        campaign=campaign,
        responses=Response.objects.of(campaign).counting().filter(worker=worker).order_by("pk"),
        reason=f"worker excluded: {reason}",
        actor=actor,
        at=at,
    )


@transaction.atomic
def reinstate_worker(
    *,
    campaign: Campaign,
    worker: Worker,
    actor: User | None,
    reason: str,
    at: datetime,
) -> int:
    """Let a worker in again and restore what their exclusion discarded, where a task still has a
    place for it; how many responses that were. Raises NotExcluded."""
    Worker.objects.select_for_update().get(pk=worker.pk)
    in_force = Exclusion.objects.in_force().filter(campaign=campaign, worker=worker)
    if not in_force.update(lifted_at=at):
        raise NotExcluded(f"{worker} is not excluded from {campaign}.")
    Decision.objects.create(
        campaign=campaign,
        act=Act.REINSTATE,
        worker=worker,
        reason=reason.strip(),
        actor=actor,
        at=at,
    )
    restorable = _discarded_by_exclusion(campaign, worker).filter(task__places_left__gt=0)
    restored = response_services.restore(responses=restorable.order_by("pk"))
    _log_each(
        campaign=campaign,
        act=Act.RESTORE,
        responses=restored,
        reason="worker reinstated",
        actor=actor,
        at=at,
    )
    return len(restored)


@transaction.atomic
def review_submitted(*, campaign: Campaign, responses: Sequence[Response], at: datetime) -> None:
    """Take in responses that were just submitted: those of excluded workers are discarded, and of
    the others some are drawn for a spot check."""
    workers = {response.worker_id for response in responses}
    # An exclusion that is being made at this moment is waited for.
    list(Worker.objects.select_for_update().filter(pk__in=workers).order_by("pk"))
    excluded = set(
        Exclusion.objects.in_force()
        .filter(campaign=campaign, worker__in=workers)
        .values_list("worker_id", flat=True)
    )
    _discard_for_exclusion(
        campaign=campaign,
        responses=[response for response in responses if response.worker_id in excluded],
        reason="the worker was excluded before",
        actor=None,
        at=at,
    )
    welcome = [response for response in responses if response.worker_id not in excluded]
    draw_spot_checks(campaign=campaign, responses=welcome, at=at)


def _discard_for_exclusion(
    *,
    campaign: Campaign,
    responses: Iterable[Response],
    reason: str,
    actor: User | None,
    at: datetime,
) -> int:
    discarded = response_services.discard(responses=responses)
    _log_each(
        campaign=campaign, act=Act.DISCARD, responses=discarded, reason=reason, actor=actor, at=at
    )
    return len(discarded)


def _discarded_by_exclusion(campaign: Campaign, worker: Worker) -> QuerySet[Response]:
    """Responses that the worker's latest exclusion discarded, save those to be rejected.

    Such a line of the log names the worker beside the response; the line of a response that was
    discarded for its own sake does not.
    """
    exclusions = Decision.objects.filter(campaign=campaign, worker=worker, act=Act.EXCLUDE)
    latest = exclusions.order_by("-pk").values("pk")[:1]
    lines = Decision.objects.filter(
        campaign=campaign, worker=worker, act=Act.DISCARD, pk__gt=latest
    )
    rejected = Decision.objects.filter(campaign=campaign, act=Act.REJECT)
    return (
        Response.objects.of(campaign)
        .filter(worker=worker, status=ResponseStatus.DISCARDED)
        .filter(pk__in=lines.values("response"))
        .exclude(pk__in=rejected.values("response"))
    )


def _log_each(
    *,
    campaign: Campaign,
    act: Act,
    responses: Sequence[Response],
    reason: str,
    actor: User | None,
    at: datetime,
) -> None:
    """A line of the log for each response, which names the worker as the cause."""
    Decision.objects.bulk_create(
        Decision(
            campaign=campaign,
            act=act,
            response=response,
            worker_id=response.worker_id,
            reason=reason,
            actor=actor,
            at=at,
        )
        for response in responses
    )
