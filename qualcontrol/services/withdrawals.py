"""Withdraw responses because the person who gave them asked for it."""

from collections.abc import Collection
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from annotate.models import Response, Worker
from annotate.services import responses as response_services
from qualcontrol.models import Act, Decision
from qualcontrol.services.locks import lock_worker
from qualcontrol.services.worker_risks import note_changes

REASON = "withdrawn"


@transaction.atomic
def withdraw_responses(
    *, worker: Worker, responses: Collection[int], actor: User | None, at: datetime
) -> list[Response]:
    """Discard these responses of the worker for good; return those not withdrawn before.

    Their tasks need as many more responses. Payments and frozen releases do not change.
    """
    lock_worker(worker)
    theirs = Response.objects.filter(worker=worker, pk__in=responses).order_by("task_id", "pk")
    found = response_services.withdraw(responses=theirs.select_related("task__campaign"), at=at)
    Decision.objects.bulk_create(
        Decision(
            campaign=response.task.campaign,
            act=Act.DISCARD,
            response=response,
            reason=REASON,
            actor=actor,
            at=at,
        )
        for response in found
    )
    for campaign in {response.task.campaign for response in found}:
        note_changes(campaign, [worker.pk])
    return found
