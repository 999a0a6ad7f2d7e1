"""Asking for a reconciliation, which is done behind the page's back by whoever reconciles."""

from datetime import datetime
from functools import partial

from django.conf import settings
from django.db import transaction

from annotate.background import hand_on
from annotate.models import Campaign
from hits.client import marketplace_of
from hits.models import SyncWish


@transaction.atomic
def ask_for_sync(*, campaign: Campaign, at: datetime) -> None:
    """Have the campaign reconciled soon: by a Celery worker where there is a broker, else by
    `sync --watch`, which looks for wishes each second. Asked twice, it is done once or twice. If
    the broker does not answer, the next run by the clock does it. Raises WrongEndpoint."""
    from hits.tasks import sync_campaign

    marketplace_of(campaign)
    SyncWish.objects.update_or_create(campaign=campaign, defaults={"asked_at": at, "sync": None})
    if not settings.CELERY_TASK_ALWAYS_EAGER:
        transaction.on_commit(partial(hand_on, sync_campaign, campaign.pk))
