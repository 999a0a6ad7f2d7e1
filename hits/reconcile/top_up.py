"""Top up: have as many slots at the marketplace as there is open work, and no more.

Slots are written down first, under the campaign's lock and within its budget, and created after
that. A creating call that is repeated carries the same token, so it makes no second HIT.
"""

import math
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils.crypto import get_random_string

from annotate.models import Campaign, CampaignStatus
from annotate.services.campaigns import OpenWork, open_work
from hits.models import Assignment, Hit, HitStatus, HitType
from hits.mturk.annotations import Annotation, installation_name
from hits.mturk.client import MarketplaceError
from hits.mturk.question import external_question
from hits.queries.costs import outstanding_slots, slot_cost, slot_fee, spend
from hits.reconcile.close import expire
from hits.reconcile.reading import adopt
from hits.reconcile.run import HIT_NAME, TOKENS_HOLD, Run
from hits.services.hit_types import ensure_hit_type


def top_up(run: Run) -> None:
    """Plan the slots that are missing, expire those in excess, create every planned HIT. Raises
    StepStopped once the requester's account is empty."""
    if run.campaign.status != CampaignStatus.RUNNING:
        return
    excess = plan_slots(run, ensure_hit_type(run.campaign, run.marketplace, at=run.at))
    _expire_excess(run, excess)
    _expire_stuck(run)
    planned = run.campaign.hits.filter(status=HitStatus.PLANNED).order_by("pk")
    if not run.sync.listing:
        # The token of an older one is forgotten there; only a listing tells whether it was made.
        planned = planned.filter(planned_at__gt=run.at - TOKENS_HOLD)
    for hit in run.healthy_first(planned, HIT_NAME):
        # Asked again each time: it may have been paused since this run began.
        if not Campaign.objects.filter(pk=hit.campaign_id, status=CampaignStatus.RUNNING).exists():
            return
        with run.alone(HIT_NAME(hit)):
            _create(run, hit)


@dataclass(frozen=True)
class Excess:
    """Slots that are too many: more than there is work for, and more than the budget pays for, as
    after a restore from a backup."""

    unwanted: int = 0
    unaffordable: int = 0


@transaction.atomic
def plan_slots(run: Run, hit_type: HitType) -> Excess:
    """Write down the HITs that are missing, as far as the budget goes; returns what is too much.
    Two reconcilers wait for each other here."""
    campaign = Campaign.objects.select_for_update().get(pk=run.campaign.pk)
    if campaign.status != CampaignStatus.RUNNING:
        return Excess()
    config = campaign.config
    work = open_work(campaign)
    wanted = -(-work.responses // config.hit.images)
    outstanding = outstanding_slots(campaign)
    # Rounded down, also below zero.
    affordable = math.floor(spend(campaign).left / slot_cost(campaign))
    slots = max(0, min(wanted - outstanding, affordable))
    most = _most_slots(work, config.hit.assignments)
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


def _most_slots(work: OpenWork, limit: int) -> int:
    """Slots of one HIT. A worker may take one slot of a HIT, so there must be as many HITs as one
    worker has tasks to do: on average a HIT may have no more slots than a task has places."""
    return max(1, min(limit, work.responses // max(1, work.tasks)))


def _create(run: Run, hit: Hit) -> None:
    lifetime = timedelta(days=run.campaign.config.hit.lifetime_days)
    try:
        created = run.marketplace.create_hit(
            hit_type_id=hit.hit_type.hit_type_id,
            slots=hit.slots,
            lifetime_seconds=int(lifetime.total_seconds()),
            question=external_question(run.campaign),
            annotation=str(Annotation.of(hit, installation_name())),
            token=hit.token,
        )
    except MarketplaceError as error:
        run.stop_without_funds(error)
        raise
    adopt(hit, created.hit_id, created.expires_at)
    run.sync.hits_created += 1


def _expire_excess(run: Run, excess: Excess) -> None:
    """Expire HITs all of whose free slots are unwanted, and as many more as the budget does not
    pay for; slots that are wanted are planned again."""
    unwanted, unaffordable = excess.unwanted, excess.unaffordable
    for hit in run.campaign.hits.filter(status=HitStatus.OPEN, available__gt=0).order_by("-pk"):
        if hit.available <= unwanted or unaffordable > 0:
            with run.alone(HIT_NAME(hit)):
                expire(run, hit)
            unwanted -= hit.available
            unaffordable -= hit.available


def _expire_stuck(run: Run) -> None:
    """Expire HITs whose free slots nobody wants any more, so that they are planned anew.

    A worker may take one slot of a HIT. Where everybody who still has something to do has been in
    a HIT already, its free slots are out of reach, and no others open while they are there.
    """
    quiet = run.at - timedelta(minutes=run.campaign.config.hit.minutes)
    if Assignment.objects.of(run.campaign).filter(submitted_at__gt=quiet).exists():
        return
    used = run.campaign.hits.filter(
        status=HitStatus.OPEN, available__gt=0, pending=0, ingested__gt=0
    )
    for hit in run.healthy_first(used.order_by("pk"), HIT_NAME):
        with run.alone(HIT_NAME(hit)):
            expire(run, hit)
