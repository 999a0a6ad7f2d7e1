"""What a campaign's pages tell of a reconciliation that was asked for, or is under way."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from django.db.models import Count, Q, Sum

from annotate.models import Campaign, CampaignStatus
from hits.models import HitStatus, Sync, SyncRequest

# `sync --watch` looks for requests each second; Celery passes them on at once.
PATIENCE = timedelta(seconds=15)
# A run by the clock that is over sooner is not worth a word.
WORTH_A_WORD = timedelta(seconds=5)


class Phase(Enum):
    WAITING = "waiting"  # asked for, and somebody may be about to take it up
    BUSY = "busy"  # asked for, while another campaign is reconciled
    UNATTENDED = "unattended"  # asked for, and nobody takes it up
    RUNNING = "running"
    SILENT = "silent"  # began and gave no sign for so long that it was killed

    @property
    def is_problem(self) -> bool:
        return self in {Phase.UNATTENDED, Phase.SILENT}


@dataclass(frozen=True)
class SyncState:
    """Where a reconciliation stands. Of a running campaign `done` of `whole` slots are open, of
    any other so many HITs are closed; both 0 where there is none."""

    phase: Phase
    since: datetime
    done: int = 0
    whole: int = 0


def sync_state(campaign: Campaign, *, at: datetime) -> SyncState | None:
    """None where the campaign is in step, as far as we know."""
    sync_request = SyncRequest.objects.filter(campaign=campaign).select_related("sync").first()
    going_on = list(Sync.objects.going_on(at))
    run = next((sync for sync in going_on if sync.campaign_id == campaign.pk), None)
    if run is not None:
        # The next attempt at a request whose run was killed.
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
