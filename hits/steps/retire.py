"""Retire: close what takes no more work, and delete what is settled, so that lists stay short."""

from datetime import timedelta

from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from annotate.models import CampaignStatus
from hits.models import Assignment, AssignmentStatus, Hit, HitStatus
from hits.steps.run import Run
from hits.steps.top_up import expire

# A settled HIT stays this long, so that its results can be looked at where they came from.
KEPT_AFTER_SETTLING = timedelta(days=1)
# Until then a rejection can be taken back, but only while its HIT exists (AWS documentation).
REJECTION_CAN_BE_OVERRIDDEN = timedelta(days=30)


def retire(run: Run) -> None:
    """Expire the open HITs of a campaign that is paused or finished; delete settled HITs."""
    if run.campaign.status != CampaignStatus.RUNNING:
        for hit in run.campaign.hits.filter(status=HitStatus.OPEN).order_by("pk"):
            expire(run, hit)
    for hit in _settled(run):
        run.marketplace.delete_hit(hit.hit_id or "")
        Hit.objects.filter(pk=hit.pk).exclude(status=HitStatus.RETIRED).update(
            status=HitStatus.RETIRED
        )
        run.sync.hits_retired += 1


def _settled(run: Run) -> list[Hit]:
    """HITs that nobody works at, with all that was submitted decided long enough ago."""
    now = timezone.now()
    kept = now if run.campaign.status == CampaignStatus.FINISHED else now - KEPT_AFTER_SETTLING
    of_hit = Assignment.objects.filter(hit=OuterRef("pk"))
    recent = of_hit.filter(decided_at__gt=kept)
    rejected = of_hit.filter(
        status=AssignmentStatus.REJECTED, decided_at__gt=now - REJECTION_CAN_BE_OVERRIDDEN
    )
    return list(
        run.campaign.hits.filter(
            ~Exists(recent),
            ~Exists(rejected),
            status__in=[HitStatus.OPEN, HitStatus.EXPIRED],
            available=0,
            pending=0,
            settled=F("ingested"),
        )
        .exclude(status=HitStatus.OPEN, ingested__lt=F("seats"))
        .order_by("pk")
    )
