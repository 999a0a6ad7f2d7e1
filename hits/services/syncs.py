"""Request syncs, which run as jobs, store their problems, and delete old records of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, Value
from django.db.models.functions import Least
from django.utils import timezone

from annotate.models import Campaign
from background.failures import note_failure, solve_failure
from background.jobs.requests import request_job
from background.models import FailureSource, Job, JobQuerySet, about_any
from hits.models import ProcessedMessage, Sync, SyncProblem
from hits.mturk.client import marketplace_of
from shared.database.transactions import delete_in_batches

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
    return request_job(kind=SYNC, arguments={}, user=user, at=at, about=campaign)


def sync_jobs(campaigns: Sequence[str] = ()) -> JobQuerySet:
    """The jobs that sync campaigns: all of them, or those of campaigns with these names."""
    jobs = Job.objects.filter(kind__in=SYNCING)
    return (
        jobs.filter(about_any(Campaign.objects.filter(slug__in=campaigns))) if campaigns else jobs
    )


# Pages show only a few problems, and large numbers usually have one cause.
MOST_KEPT = 500
MOST_TOLD = 3
# A problem that this many syncs in a row found does not pass by itself.
LASTING = 5


@transaction.atomic
def keep_problems(
    *, campaign: Campaign, found: Mapping[str, str], at: datetime, is_complete: bool
) -> None:
    """Store the problems that a sync found, at most MOST_KEPT.

    If the sync reached everything (`is_complete`), older problems are solved and are deleted.
    """
    # The lock is needed because two syncs of a campaign may end at the same time.
    Campaign.objects.locked(campaign.pk)
    stored = campaign.sync_problems.all()
    for subject, message in list(found.items())[:MOST_KEPT]:
        again = stored.filter(subject=subject)
        # A clock that was ahead may have stored a time that is not reached yet.
        first_at = Least("first_at", Value(at))
        if not again.update(message=message, first_at=first_at, last_at=at, times=F("times") + 1):
            SyncProblem.objects.create(
                campaign=campaign, subject=subject, message=message, first_at=at, last_at=at
            )
    if is_complete:
        # Later ones were found at the same time; those of a clock that was ahead are older.
        older = stored.filter(Q(last_at__lt=at) | Q(last_at__gt=timezone.now()))
        older.exclude(subject__in=list(found)[:MOST_KEPT]).delete()
    _note_lasting(campaign, at)


def _note_lasting(campaign: Campaign, at: datetime) -> None:
    """Put problems that came back LASTING times on the page of failures, or take them off it."""
    lasting = campaign.sync_problems.filter(times__gte=LASTING).order_by("pk")
    problems = dict(lasting.values_list("subject", "message"))
    about: Any = {"source": FailureSource.SYNC, "subject": campaign.slug, "at": at}
    if not problems:
        solve_failure(**about)
        return
    note_failure(
        **about,
        title=f"Sync {campaign}",
        error=in_words(problems),
        about=campaign,
        path=campaign.get_absolute_url(),
    )


def in_words(problems: Mapping[str, str]) -> str:
    """The first problems, one per line, and the number of further ones."""
    lines = [f"{subject}: {message}" for subject, message in list(problems.items())[:MOST_TOLD]]
    if more := len(problems) - len(lines):
        lines.append(f"And {more} more.")
    return "\n".join(lines)
