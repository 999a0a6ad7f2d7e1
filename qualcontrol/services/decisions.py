"""Lines of the decision log, written in the transaction of what they tell."""

from collections.abc import Iterable
from datetime import datetime

from django.contrib.auth.models import User

from annotate.models import Campaign, Response, Worker
from qualcontrol.models import Act, Decision


def log_about(
    worker: Worker, *, campaign: Campaign, act: Act, reason: str, actor: User | None, at: datetime
) -> None:
    """A line about a worker; no actor where the campaign's policy decided."""
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
    """A line about a response for its own sake."""
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
    """A line for each response, which names its worker as the cause."""
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
