"""Request syncs, which run as jobs, and delete old records of them."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q

from annotate.jobs.requests import request_job
from annotate.models import Campaign, Job
from annotate.models.jobs import JobQuerySet
from annotate.services.retention import delete_in_batches
from hits.models import ProcessedMessage, Sync
from hits.mturk.client import marketplace_of

# Kinds of jobs. Both sync a campaign; the first one publishes it before.
PUBLISH, SYNC = "publish", "sync"
SYNCING = (PUBLISH, SYNC)
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


def ask_for_sync(*, campaign: Campaign, user: User | None, at: datetime) -> Job:
    """Request a sync of the campaign, and return its job. Raises WrongEndpoint and JobRefused.

    If one waits already, it is returned. One that runs may have passed what has changed since, so
    another one is requested.
    """
    marketplace_of(campaign)
    return request_job(kind=SYNC, arguments={}, user=user, at=at, campaign=campaign)


def sync_jobs(campaigns: Sequence[str] = ()) -> JobQuerySet:
    """The jobs that sync campaigns: all of them, or those of campaigns with these names."""
    found = Job.objects.filter(kind__in=SYNCING)
    return found.filter(campaign__slug__in=campaigns) if campaigns else found
