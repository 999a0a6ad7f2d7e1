"""Close HITs that nobody needs, and delete settled ones, to keep the marketplace's lists short."""

from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from annotate.models import Campaign, CampaignStatus
from hits.models import Assignment, AssignmentStatus, Bonus, Hit, HitStatus
from hits.mturk.connection import MarketplaceError
from hits.reconcile.reading import note_gone
from hits.reconcile.run import Run, hit_name
from hits.reconcile.storing import ask_for


def close(run: Run) -> None:
    """Expire the open HITs of a campaign that is not running.

    If this sync has listed the HITs, also delete planned HITs that the marketplace does not have.
    """
    if run.campaign.status == CampaignStatus.RUNNING:
        return
    if run.sync.listing:
        withdraw_planned(run, run.campaign.hits.all())
    still_open = run.campaign.hits.filter(status=HitStatus.OPEN).order_by("pk")
    expire_each(run, still_open)


@transaction.atomic
def withdraw_planned(run: Run, hits: QuerySet[Hit]) -> None:
    """Delete those of the HITs that are planned and were not in the list that this sync read.

    If another sync creates one of them anyway, a later sync finds it by its annotation.
    """
    # Not those that another sync has just planned. Later ones are of a clock that was ahead.
    not_just_now = Q(planned_at__lt=run.at) | Q(planned_at__gt=timezone.now())
    planned = hits.filter(not_just_now, status=HitStatus.PLANNED)
    for hit in planned.select_for_update(of=("self",)).order_by("pk"):
        hit.delete()


def expire_each(run: Run, hits: Iterable[Hit]) -> None:
    for hit in run.healthy_first(hits, hit_name):
        with run.alone(hit_name(hit)):
            expire(run, hit)


def expire(run: Run, hit: Hit) -> None:
    """Expire a HIT, or mark it as gone if the marketplace does not have it.

    The budget still reserves its free slots until the next listing, because a worker may have
    taken one before the call.
    """
    try:
        run.marketplace.expire_hit(hit.hit_id or "")
    except MarketplaceError as error:
        if not error.says_gone:
            raise
        note_gone(run, hit, is_certain=error.says_disposed)
        return
    Hit.objects.filter(pk=hit.pk, status=HitStatus.OPEN).update(status=HitStatus.EXPIRED)


# Settled HITs are kept this long, so that their results can still be seen at the marketplace.
KEPT_AFTER_SETTLING = timedelta(days=1)
# A rejection can be reverted for this long, but only while its HIT exists (AWS documentation).
REJECTION_CAN_BE_OVERRIDDEN = timedelta(days=30)


def retire(run: Run) -> None:
    """Delete the campaign's settled HITs at the marketplace and mark them as retired."""
    settled = settled_hits(run.campaign)
    for hit in run.healthy_first(settled, hit_name):
        # A bonus may have been planned since the query.
        if settled.filter(pk=hit.pk).exists():
            with run.alone(hit_name(hit)):
                for rejected in hit.assignments.filter(status=AssignmentStatus.REJECTED):
                    ask_for(run, rejected)  # no listing shows that somebody has paid it since
                run.marketplace.delete_hit(hit.hit_id or "")
                run.sync.hits_retired += Hit.objects.alive().filter(pk=hit.pk).retire()


def settled_hits(campaign: Campaign) -> QuerySet[Hit]:
    """The HITs that can be deleted.

    Nobody works on them, and no bonus waits to be sent. Their approvals are older than
    KEPT_AFTER_SETTLING, unless the campaign is finished, and their rejections can no longer be
    reverted.
    """
    now = timezone.now()
    of_hit = Assignment.objects.filter(hit=OuterRef("pk"))
    recent = of_hit.filter(decided_at__gt=now - KEPT_AFTER_SETTLING)
    if campaign.status == CampaignStatus.FINISHED:
        # Not compared with the current time: the marketplace's clock may be ahead of ours.
        recent = recent.none()
    rejected = of_hit.filter(
        status=AssignmentStatus.REJECTED, decided_at__gt=now - REJECTION_CAN_BE_OVERRIDDEN
    )
    bonuses = Bonus.objects.unsent().filter(assignment__hit=OuterRef("pk"))
    return (
        campaign.hits.filter(
            ~Exists(recent),
            ~Exists(rejected),
            ~Exists(bonuses),
            status__in=[HitStatus.OPEN, HitStatus.EXPIRED],
            available=0,
            pending=0,
            settled=F("ingested"),
        )
        .exclude(status=HitStatus.OPEN, ingested__lt=F("slots"))
        .order_by("pk")
    )
