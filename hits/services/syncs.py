"""Requests for a sync, which a Celery worker or `sync --watch` carries out."""

from datetime import datetime

from django.db import transaction

from annotate.models import Campaign
from hits.models import SyncWish
from hits.mturk.client import marketplace_of


@transaction.atomic
def ask_for_sync(*, campaign: Campaign, at: datetime) -> None:
    """Note that the campaign is to be synced. `sync --watch` looks for such requests every second,
    and the next scheduled sync finds them too. Raises WrongEndpoint."""
    marketplace_of(campaign)
    SyncWish.objects.update_or_create(campaign=campaign, defaults={"asked_at": at, "sync": None})
