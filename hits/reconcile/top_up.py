"""Top up: keep as many slots at the marketplace as the open work needs, and no more.

HITs are planned first, under the campaign's lock and within its budget, and are then created. A
repeated call has the same token, so it does not create a second HIT.
"""

import math
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.utils.crypto import get_random_string

from annotate.models import Campaign, CampaignStatus
from annotate.queries.progress import open_work, work_now
from hits.models import Assignment, Hit, HitStatus, HitType
from hits.mturk.connection import MarketplaceError
from hits.mturk.hit_texts import Annotation, campaign_mark, external_question, installation_name
from hits.queries.costs import most_slots, outstanding_slots, slot_cost, slot_fee, spend
from hits.reconcile.hit_types import current_hit_types, ensure_hit_type
from hits.reconcile.reading import adopt
from hits.reconcile.retire import expire, expire_each, withdraw_planned
from hits.reconcile.run import TOKENS_HOLD, Run, hit_name


def top_up(run: Run) -> None:
    """Plan the missing slots, expire excess slots and create the planned HITs.

    Does nothing if the campaign is not running. Raises StepStopped if the requester's account is
    empty.
    """
    if run.campaign.status != CampaignStatus.RUNNING:
        return
    hit_type = ensure_hit_type(run.campaign, run.marketplace, at=run.at)
    superseded = _superseded(run)
    if run.sync.listing:
        withdraw_planned(run, superseded)
    excess = plan_slots(run, hit_type)
    _expire_excess(run, excess)
    expire_each(run, superseded.filter(status=HitStatus.OPEN, available__gt=0).order_by("pk"))
    _expire_stuck(run)
    planned = run.campaign.hits.filter(status=HitStatus.PLANNED).order_by("pk")
    planned = planned.exclude(pk__in=superseded)
    if not run.sync.listing:
        # The marketplace forgets older tokens. Only a listing shows whether their HITs exist.
        planned = planned.filter(planned_at__gt=run.at - TOKENS_HOLD)
    for hit in run.healthy_first(planned, hit_name):
        # The campaign may have been paused since this run began.
        if not Campaign.objects.filter(pk=hit.campaign_id, status=CampaignStatus.RUNNING).exists():
            return
        with run.alone(hit_name(hit)):
            _create(run, hit)


@dataclass(frozen=True)
class Excess:
    """Numbers of slots beyond the open work, and beyond the budget, for example after restoring a
    backup."""

    unwanted: int = 0
    unaffordable: int = 0


@transaction.atomic
def plan_slots(run: Run, hit_type: HitType) -> Excess:
    """Store the missing HITs as planned, within the budget, and return the excess slots.

    The campaign is locked, so that two reconcilers do not plan the same slots.
    """
    campaign = Campaign.objects.locked(run.campaign.pk)
    if campaign.status != CampaignStatus.RUNNING:
        return Excess()
    if not current_hit_types(campaign).filter(pk=hit_type.pk).exists():
        return Excess()  # The reward changed during this sync; the next one plans.
    config = campaign.config
    # Before the work: a submission that is stored meanwhile, and its slot, are not both missed.
    outstanding = outstanding_slots(campaign)
    wanted = work_now(campaign).pages(config)
    cost = slot_cost(campaign.config)
    # `floor` also rounds down negative numbers. Unpaid work needs no money.
    affordable = math.floor(spend(campaign).left / cost) if cost else wanted
    slots = max(0, min(wanted - outstanding, affordable))
    whole = open_work(campaign)
    most = most_slots(config, responses=whole.missing, tasks=whole.tasks)
    sizes = [most] * (slots // most) + ([slots % most] if slots % most else [])
    Hit.objects.bulk_create(
        Hit(
            campaign=campaign,
            hit_type=hit_type,
            token=get_random_string(32),
            slots=size,
            reward=config.hit.reward,
            fee=slot_fee(config),
            planned_at=run.at,
        )
        for size in sizes
    )
    return Excess(unwanted=max(0, outstanding - wanted), unaffordable=max(0, -affordable))


def _create(run: Run, hit: Hit) -> None:
    lifetime = timedelta(days=run.campaign.config.hit.lifetime_days)
    try:
        created = run.marketplace.create_hit(
            hit_type_id=hit.hit_type.hit_type_id,
            slots=hit.slots,
            lifetime_seconds=int(lifetime.total_seconds()),
            question=external_question(run.campaign),
            annotation=str(Annotation(installation_name(), campaign_mark(run.campaign), hit.token)),
            token=hit.token,
        )
    except MarketplaceError as error:
        run.stop_without_funds(error)
        raise
    adopt(hit, created.hit_id, created.expires_at)
    run.sync.hits_created += 1


def _expire_excess(run: Run, excess: Excess) -> None:
    """Expire HITs whose free slots are all unwanted, and further HITs that the budget cannot pay.
    After a listing, delete such HITs that were never created.

    The next sync plans new HITs for slots that are still wanted.
    """
    if excess == Excess():
        return  # as in most syncs, which need not read all open HITs
    # Slots of HITs that expired since the last listing still count as outstanding.
    expired = run.campaign.hits.filter(status=HitStatus.EXPIRED)
    going = expired.aggregate(slots=Sum("available", default=0))["slots"]
    unwanted, unaffordable = excess.unwanted - going, excess.unaffordable - going
    free = Q(status=HitStatus.OPEN, available__gt=0)
    if run.sync.listing:
        free |= Q(status=HitStatus.PLANNED)
    for hit in run.campaign.hits.filter(free).order_by("-pk"):
        is_planned = hit.status == HitStatus.PLANNED
        slots = hit.slots if is_planned else hit.available
        if slots <= unwanted or unaffordable > 0:
            with run.alone(hit_name(hit)):
                if is_planned:
                    withdraw_planned(run, run.campaign.hits.filter(pk=hit.pk))
                else:
                    expire(run, hit)
            unwanted -= slots
            unaffordable -= slots


def _superseded(run: Run) -> QuerySet[Hit]:
    """The HITs that have an earlier reward of the campaign.

    Their slots that nobody has taken are expired, or not created at all, and the next sync plans
    new HITs with the present reward for them.
    """
    campaign = Campaign.objects.get(pk=run.campaign.pk)
    others = campaign.hit_types.exclude(reward=None).exclude(pk__in=current_hit_types(campaign))
    return run.campaign.hits.filter(hit_type__in=others)


def _expire_stuck(run: Run) -> None:
    """Expire HITs whose free slots no worker can take, so that new HITs are planned instead.

    A worker may take only one slot of a HIT. If all workers with tasks left have taken a slot of
    the HIT, its free slots stay open, and no others are planned while they do. This is assumed if
    nothing was submitted for as long as a HIT may take.
    """
    quiet = run.at - timedelta(minutes=run.campaign.config.hit.minutes)
    if Assignment.objects.of(run.campaign).filter(submitted_at__gt=quiet).exists():
        return
    used = run.campaign.hits.filter(
        status=HitStatus.OPEN, available__gt=0, pending=0, ingested__gt=0
    )
    expire_each(run, used.order_by("pk"))
