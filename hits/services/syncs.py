"""Requests for a sync, which a Celery worker or `sync --watch` carries out, and the records that
syncs and events leave."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from annotate.models import Campaign
from annotate.services.retention import delete_in_batches
from hits.models import ProcessedMessage, Sync, SyncRequest
from hits.mturk.client import marketplace_of

SYNCS_ARE_KEPT = timedelta(days=30)
# SQS keeps a message for 14 days at most; a repeat cannot come later than that.
PROCESSED_MESSAGES_ARE_KEPT = timedelta(days=15)
# Messages that could not be read, each with its text.
UNREADABLE_ARE_KEPT = timedelta(days=90)


def delete_old_syncs(*, at: datetime) -> int:
    """Delete the records of syncs, except each campaign's last one, which its page shows; returns
    how many."""
    later = Sync.objects.filter(campaign=OuterRef("campaign"), pk__gt=OuterRef("pk"))
    old = Sync.objects.filter(Exists(later), started_at__lt=at - SYNCS_ARE_KEPT)
    return delete_in_batches(old)


def delete_old_messages(*, at: datetime) -> int:
    """Delete the queue's messages that were dealt with, or set aside; returns how many."""
    return delete_in_batches(
        ProcessedMessage.objects.filter(
            Q(problem="", received_at__lt=at - PROCESSED_MESSAGES_ARE_KEPT)
            | Q(received_at__lt=at - UNREADABLE_ARE_KEPT)
        )
    )


@transaction.atomic
def ask_for_sync(*, campaign: Campaign, at: datetime) -> None:
    """Note that the campaign is to be synced. `sync --watch` looks for such requests every second,
    and the next scheduled sync finds them too. Raises WrongEndpoint."""
    marketplace_of(campaign)
    SyncRequest.objects.update_or_create(
        campaign=campaign, defaults={"requested_at": at, "sync": None}
    )
