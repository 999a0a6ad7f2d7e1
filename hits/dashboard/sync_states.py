"""The state of a requested or running sync, for a campaign's pages."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from django.db.models import Count, Q, Sum

from annotate.models import Campaign, CampaignStatus
from hits.models import HitStatus, Sync, SyncRequest

# A reconciler starts within this time: `sync --watch` looks for requests each second, and Celery
# passes them on immediately.
PATIENCE = timedelta(seconds=15)
# Scheduled syncs that take less time than this are not shown.
WORTH_A_WORD = timedelta(seconds=5)


class Phase(Enum):
    WAITING = "waiting"  # requested a short time ago
    BUSY = "busy"  # requested, while another campaign is synced
    UNATTENDED = "unattended"  # requested, but no reconciler seems to run
    RUNNING = "running"
    SILENT = "silent"  # started, but silent for so long that it must have been killed

    @property
    def is_problem(self) -> bool:
        return self in {Phase.UNATTENDED, Phase.SILENT}


@dataclass(frozen=True)
class SyncState:
    """The phase of a sync, and its progress.

    In a running campaign, `done` of `whole` slots are open. In other campaigns, `done` of `whole`
    HITs are closed. Both are 0 if there are none.
    """

    phase: Phase
    since: datetime
    done: int = 0
    whole: int = 0


def sync_state(campaign: Campaign, *, at: datetime) -> SyncState | None:
    """The state of the campaign's sync; None if there is nothing to show."""
    sync_request = SyncRequest.objects.filter(campaign=campaign).select_related("sync").first()
    going_on = list(Sync.objects.going_on(at))
    run = next((sync for sync in going_on if sync.campaign_id == campaign.pk), None)
    if run is not None:
        # If the request's earlier run was killed, this run is the next attempt.
        is_asked_for = sync_request is not None and (
            sync_request.sync is None or sync_request.sync.finished_at is None
        )
        if is_asked_for or at - run.started_at > WORTH_A_WORD:
            return SyncState(Phase.RUNNING, run.started_at, *_progress(campaign))
        return None
    if sync_request is not None and sync_request.sync is None:
        return SyncState(
            _waiting(sync_request, at, is_busy=bool(going_on)), sync_request.requested_at
        )
    last = campaign.syncs.first()
    if last is not None and last.finished_at is None and last.seen_at is not None:
        return SyncState(Phase.SILENT, last.seen_at, *_progress(campaign))
    return None


def _waiting(sync_request: SyncRequest, at: datetime, *, is_busy: bool) -> Phase:
    if at - sync_request.requested_at < PATIENCE:
        return Phase.WAITING
    return Phase.BUSY if is_busy else Phase.UNATTENDED


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
