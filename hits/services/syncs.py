"""Request syncs, which a Celery worker or `sync --watch` runs, and delete old records of them."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from annotate.models import Campaign
from annotate.services.retention import delete_in_batches
from hits.models import ProcessedMessage, Sync, SyncRequest
from hits.mturk.client import marketplace_of

SYNCS_ARE_KEPT = timedelta(days=30)
# SQS keeps a message for at most 14 days, so a duplicate cannot come later.
PROCESSED_MESSAGES_ARE_KEPT = timedelta(days=15)
# For messages that could not be read; each is stored with its text.
UNREADABLE_ARE_KEPT = timedelta(days=90)


def delete_old_syncs(*, at: datetime) -> int:
    """Delete syncs older than SYNCS_ARE_KEPT, and return their number.

    The last sync of each campaign is kept, because the campaign's page shows it.
    """
    later = Sync.objects.filter(campaign=OuterRef("campaign"), pk__gt=OuterRef("pk"))
    old = Sync.objects.filter(Exists(later), started_at__lt=at - SYNCS_ARE_KEPT)
    return delete_in_batches(old)


def delete_old_messages(*, at: datetime) -> int:
    """Delete old records of the queue's messages, and return their number."""
    return delete_in_batches(
        ProcessedMessage.objects.filter(
            Q(problem="", received_at__lt=at - PROCESSED_MESSAGES_ARE_KEPT)
            | Q(received_at__lt=at - UNREADABLE_ARE_KEPT)
        )
    )


@transaction.atomic
def ask_for_sync(*, campaign: Campaign, at: datetime) -> None:
    """Request a sync of the campaign. Raises WrongEndpoint.

    `sync --watch` looks for requests every second. The next scheduled sync also fulfils them.
    """
    marketplace_of(campaign)
    SyncRequest.objects.update_or_create(
        campaign=campaign, defaults={"requested_at": at, "sync": None}
    )
