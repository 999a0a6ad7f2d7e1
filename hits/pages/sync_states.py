"""The state of a requested or running sync, for a campaign's pages."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from django.db.models import Count, Q, Sum

from annotate.models import Campaign, CampaignStatus
from background.models import Job, JobStatus
from hits.models import HitStatus
from hits.services.syncs import sync_jobs

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
