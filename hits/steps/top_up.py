"""Top up: have as many seats at the marketplace as there is open work, and no more.

Seats are written down first, under the campaign's lock and within its budget, and created after
that. A creating call that is repeated carries the same token, so it makes no second HIT.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import F, Sum
from django.utils import timezone
from django.utils.crypto import get_random_string

from annotate.models import Campaign, CampaignStatus
from annotate.services.campaigns import OpenWork, open_work
from hits.costs import seat_cost, seat_fee, spend
from hits.models import Assignment, Hit, HitStatus, HitType
from hits.question import external_question
from hits.steps.ingest import adopt
from hits.steps.run import Run
from qualcontrol.requirements import qualification_requirements


def top_up(run: Run) -> None:
    """Plan the seats that are missing and create every planned HIT; expire those in excess."""
    if run.campaign.status != CampaignStatus.RUNNING:
        return
    hit_type = ensure_hit_type(run)
    excess = plan_seats(run, hit_type)
    for hit in run.campaign.hits.filter(status=HitStatus.PLANNED).order_by("pk"):
        _create(run, hit)
    if excess > 0:
        _expire_excess(run, excess)
    _expire_stuck(run)


def ensure_hit_type(run: Run) -> HitType:
    """The campaign's HIT type, made at its first use; making it twice gives the same one."""
    known = run.campaign.hit_types.first()
    if known is not None:
        return known
    campaign, config = run.campaign, run.campaign.config
    exclusion = run.marketplace.qualification_type(
        name=f"{campaign.slug}: nothing left to do ({campaign.created_at:%Y%m%d%H%M%S})",
        description="Given to workers for whom the campaign has no work, so that they are not "
        "offered a HIT in vain. It says nothing about the quality of anybody's work.",
    )
    hit_type_id = run.marketplace.hit_type(
        Title=config.hit.title,
        Description=config.hit.description,
        Keywords=config.hit.keywords,
        Reward=str(config.hit.reward),
        AssignmentDurationInSeconds=config.hit.minutes * 60,
        AutoApprovalDelayInSeconds=config.hit.auto_approval_days * 86_400,
        QualificationRequirements=qualification_requirements(
            config.workers, exclusion_type_id=exclusion, endpoint=campaign.endpoint
        ),
    )
    hit_type, _ = HitType.objects.get_or_create(
        campaign=campaign,
        hit_type_id=hit_type_id,
        defaults={"exclusion_type_id": exclusion, "created_at": run.at},
    )
    return hit_type


def outstanding_seats(campaign: Campaign) -> int:
    """Seats that may still bring a submission: planned, free, or taken."""
    planned = campaign.hits.filter(status=HitStatus.PLANNED).aggregate(n=Sum("seats", default=0))
    created = campaign.hits.created().aggregate(n=Sum(F("available") + F("pending"), default=0))
    return planned["n"] + created["n"]


@transaction.atomic
def plan_seats(run: Run, hit_type: HitType) -> int:
    """Write down the HITs that are missing, as far as the budget goes; returns how many seats are
    too many (or, below zero, were missing). Two reconcilers wait for each other here."""
    campaign = Campaign.objects.select_for_update().get(pk=run.campaign.pk)
    config = campaign.config
    work = open_work(campaign)
    wanted = -(-work.responses // config.hit.images)
    outstanding = outstanding_seats(campaign)
    affordable = max(0, int(spend(campaign).left // seat_cost(campaign)))
    seats = max(0, min(wanted - outstanding, affordable))
    most = _most_seats(work, config.hit.assignments)
    sizes = [most] * (seats // most) + ([seats % most] if seats % most else [])
    Hit.objects.bulk_create(
        Hit(
            campaign=campaign,
            hit_type=hit_type,
            token=get_random_string(32),
            seats=size,
            reward=config.hit.reward,
            fee=seat_fee(config),
            planned_at=run.at,
        )
        for size in sizes
    )
    return outstanding - wanted


def _most_seats(work: OpenWork, limit: int) -> int:
    """Seats of one HIT. A worker may take one seat of a HIT, so there must be as many HITs as one
    worker has tasks to do: on average a HIT may have no more seats than a task has places."""
    return max(1, min(limit, work.responses // max(1, work.tasks)))


def _create(run: Run, hit: Hit) -> None:
    lifetime = timedelta(days=run.campaign.config.hit.lifetime_days)
    hit_id = run.marketplace.create_hit(
        hit_type_id=hit.hit_type.hit_type_id,
        seats=hit.seats,
        lifetime_seconds=int(lifetime.total_seconds()),
        question=external_question(run.campaign),
        token=hit.token,
    )
    adopt(hit, hit_id, timezone.now() + lifetime)
    run.sync.hits_created += 1


def _expire_excess(run: Run, excess: int) -> None:
    """Expire HITs whose free seats are all too many; what they had open is planned anew if it is
    wanted again."""
    for hit in run.campaign.hits.filter(status=HitStatus.OPEN, available__gt=0).order_by("-pk"):
        if hit.available <= excess:
            expire(run, hit)
            excess -= hit.available


def _expire_stuck(run: Run) -> None:
    """Expire HITs whose free seats nobody wants any more, so that they are planned anew.

    A worker may take one seat of a HIT. Where everybody who still has something to do has been in
    a HIT already, its free seats are out of reach, and no others open while they are there.
    """
    quiet = run.at - timedelta(minutes=run.campaign.config.hit.minutes)
    if Assignment.objects.of(run.campaign).filter(submitted_at__gt=quiet).exists():
        return
    used = run.campaign.hits.filter(
        status=HitStatus.OPEN, available__gt=0, pending=0, ingested__gt=0
    )
    for hit in used.order_by("pk"):
        expire(run, hit)


def expire(run: Run, hit: Hit) -> None:
    """Take a HIT from new workers. Its free seats stay promised until the marketplace's next
    listing says that nobody took one in between."""
    run.marketplace.expire_hit(hit.hit_id or "")
    Hit.objects.filter(pk=hit.pk, status=HitStatus.OPEN).update(status=HitStatus.EXPIRED)
