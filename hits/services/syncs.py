"""Request syncs, which run as jobs, say how far they are, store their problems, and delete old
records of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, Sum, Value
from django.db.models.functions import Least
from django.utils import timezone

from annotate.models import Campaign, CampaignStatus
from background.failures import note_failure, solve_failure
from background.jobs.requests import request_job
from background.models import FailureSource, Job, JobQuerySet, JobStatus, about_any
from hits.models import HitStatus, ProcessedMessage, Sync, SyncProblem
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


# A requested sync starts within this time: workers look for jobs each second, and Celery passes
# them on immediately.
PATIENCE = timedelta(seconds=15)
# Scheduled syncs that take less time than this are not shown.
WORTH_A_WORD = timedelta(seconds=5)


class Phase(Enum):
    WAITING = "waiting"  # requested a short time ago
    BUSY = "busy"  # requested, while workers are busy with other jobs, or another sync runs
    UNATTENDED = "unattended"  # requested, but no reconciler seems to run
    RUNNING = "running"
    SILENT = "silent"  # started, but silent for too long: it must have been killed

    @property
    def is_problem(self) -> bool:
        return self in {Phase.UNATTENDED, Phase.SILENT}


@dataclass(frozen=True)
class SyncState:
    """The phase of a sync, and its progress.

    In a running campaign, `done` of `whole` slots are open. In other campaigns, `done` of `whole`
    HITs are closed. Both are 0 if there are none. `job` is the one that was requested.
    """

    phase: Phase
    since: datetime
    job: Job | None = None
    done: int = 0
    whole: int = 0


def sync_state(campaign: Campaign, *, at: datetime) -> SyncState | None:
    """The state of the campaign's sync; None if there is nothing to show."""
    job = sync_jobs([campaign.slug]).unfinished().order_by("asked_at", "pk").first()
    last = campaign.syncs.first()
    run = last if last is not None and last.is_going_on(at) else None
    if run is not None:
        if job is not None or at - run.started_at > WORTH_A_WORD:
            return SyncState(Phase.RUNNING, run.started_at, job, *_progress(campaign))
        return None
    if job is not None:
        return SyncState(_waiting(job, at), job.asked_at, job)
    if last is not None and last.finished_at is None and last.seen_at is not None:
        return SyncState(Phase.SILENT, last.seen_at, None, *_progress(campaign))
    return None


def _waiting(job: Job, at: datetime) -> Phase:
    if job.status == JobStatus.RUNNING or at - job.asked_at < PATIENCE:
        return Phase.WAITING
    others = Job.objects.running().filter(due_at__gt=at)
    return Phase.BUSY if others.exists() or job.step else Phase.UNATTENDED


def _progress(campaign: Campaign) -> tuple[int, int]:
    hits = campaign.hits.alive()
    if campaign.status == CampaignStatus.RUNNING:
        is_open = Q(status=HitStatus.OPEN)
        slots = hits.filter(is_open | Q(status=HitStatus.PLANNED)).aggregate(
            done=Sum("slots", filter=is_open, default=0), whole=Sum("slots", default=0)
        )
        return slots["done"], slots["whole"]
    closed = hits.aggregate(done=Count("pk", filter=Q(status=HitStatus.EXPIRED)), whole=Count("pk"))
    return closed["done"], closed["whole"]
