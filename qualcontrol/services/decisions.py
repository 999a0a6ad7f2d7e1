"""Entries of the decision log. Callers write them in the transaction of the decision."""

from collections.abc import Iterable
from datetime import datetime

from django.contrib.auth.models import User

from annotate.models import Campaign, Response, Worker
from qualcontrol.models import Act, Decision


def log_about(
    worker: Worker, *, campaign: Campaign, act: Act, reason: str, actor: User | None, at: datetime
) -> None:
    """Log a decision about a worker. Without an actor, the campaign's policy decided."""
    Decision.objects.create(
        campaign=campaign, act=act, worker=worker, reason=reason, actor=actor, at=at
    )


def log_response(
    response: Response,
    *,
    campaign: Campaign,
    act: Act,
    reason: str,
    actor: User | None,
    at: datetime,
) -> None:
    """Log a decision about a single response."""
    Decision.objects.create(
        campaign=campaign, act=act, response=response, reason=reason, actor=actor, at=at
    )


def log_each(
    responses: Iterable[Response],
    *,
    campaign: Campaign,
    act: Act,
    reason: str,
    actor: User | None,
    at: datetime,
) -> None:
    """Log a decision about each response; the entry names the worker, whose exclusion is the
    cause."""
    Decision.objects.bulk_create(
        Decision(
            campaign_id=campaign.pk,
            act=act,
            response_id=response.pk,
            worker_id=response.worker_id,
            reason=reason,
            actor=actor,
            at=at,
        )
        for response in responses
    )
