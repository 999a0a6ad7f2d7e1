"""Discard responses for good that a person has withdrawn."""

from collections.abc import Collection
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from annotate.models import Campaign, Response, Worker
from annotate.services.responses import lock_tasks, withdraw
from qualcontrol.models import Act
from qualcontrol.models.decisions import WITHDRAWN
from qualcontrol.services.discards import discard_and_log, log
from qualcontrol.services.held_payments import end_if_judged
from qualcontrol.services.locks import lock_worker
from qualcontrol.services.sampling import lock_check_share
from qualcontrol.services.worker_risks import note_changes


@transaction.atomic
def withdraw_responses(
    *, worker: Worker, responses: Collection[int], actor: User | None, at: datetime
) -> list[Response]:
    """Discard these responses of the worker for good; return those not withdrawn before.

    Their tasks need as many more responses. Payments and frozen releases do not change.
    """
    lock_worker(worker)
    theirs = Response.objects.filter(worker=worker, pk__in=responses).order_by("task_id", "pk")
    campaigns = Campaign.objects.filter(responses__in=theirs.order_by()).distinct().order_by("pk")
    for campaign in campaigns:
        lock_check_share(campaign)
    # All at once and in order, also those of several campaigns.
    lock_tasks({response.task_id for response in theirs})
    found: list[Response] = []
    for campaign in campaigns:
        those = list(theirs.filter(campaign=campaign, withdrawn_at=None))
        moved = discard_and_log(those, campaign=campaign, reason=WITHDRAWN, actor=actor, at=at)
        before = [response for response in those if response not in moved]
        log(before, campaign=campaign, act=Act.DISCARD, reason=WITHDRAWN, actor=actor, at=at)
        found += withdraw(responses=those, at=at)
        note_changes(campaign, [worker.pk])
    for submission in {response.submission_id for response in found}:
        end_if_judged(submission=submission, at=at)
    return found
