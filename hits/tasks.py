"""Celery tasks that run on a schedule or in the background. They call services, and are safe to
repeat."""

import logging

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from annotate.models import Campaign
from background.jobs.runner import run_waiting
from background.tasks import PatientTask, hand_on, pass_on
from corpora.errors import DomainError
from hits.models import Sync, WorkerBarring
from hits.mturk.client import marketplace_of
from hits.mturk.connection import MarketplaceError
from hits.queries.settled import campaigns_to_sync
from hits.reconcile.bar import tell
from hits.reconcile.events import is_listing_due, take_events
from hits.reconcile.reconciler import SyncBusy, reconcile, sync_share
from hits.reconcile.run import AT_ONCE, PAYS_FOR, SHARES, ShareWork
from hits.reconcile.unknown import close_without_campaigns
from hits.services import retention
from hits.services.syncs import sync_jobs

log = logging.getLogger(__name__)

# Seconds after which a sync that no worker has begun is dropped. By then there is a later one.
WAITS_FOR = max(60, settings.SYNC_SECONDS)


class MarketplaceTask(PatientTask):
    """A task that is also tried again, with growing delays, when the marketplace does not answer,
    refuses calls because there are too many, or refuses all of them."""

    autoretry_for = (*PatientTask.autoretry_for, MarketplaceError)


@shared_task(base=PatientTask)
def sync_campaigns() -> None:
    """Process the events, then start one task for each campaign that may need a sync."""
    taken = take_events(at=timezone.now(), at_most=_at_most())
    # Each time in another order, so that no campaign is always the last one of busy workers.
    for campaign in campaigns_to_sync().order_by("?"):
        is_whole = not taken.complete or is_listing_due(campaign, at=timezone.now())
        hand_on(sync_campaign, campaign.pk, is_whole=is_whole, within=WAITS_FOR)


@shared_task(base=PatientTask)
def sync_campaign(pk: int, is_whole: bool = True) -> None:
    """Sync one campaign. Failures are recorded in its Sync and its SyncProblems.

    Many submissions and payments are divided among the workers: they take up the campaign's shares.
    """
    campaign = Campaign.objects.get(pk=pk)
    try:
        sync = reconcile(campaign, is_whole=is_whole, pays_for=PAYS_FOR, at_most=_at_most())
    except SyncBusy as error:
        log.info("%s", error)
    except DomainError as error:
        log.warning("%s", error)
    else:
        if sync.error:
            log.warning("%s: %s", sync.campaign, sync.error)
        for share in SHARES:
            _continue(campaign, share, sync)


@shared_task(base=PatientTask)
def sync_requested() -> None:
    """Run the publications and syncs that people have asked for."""
    for _ in run_waiting(among=sync_jobs()):
        pass


@shared_task(base=PatientTask)
def close_unknown_hits() -> None:
    """Close HITs of this database that belong to none of its campaigns."""
    try:
        close_without_campaigns()
    except DomainError as error:
        log.warning("Unknown HITs at the marketplace were not checked: %s", error)


@shared_task(base=MarketplaceTask)
def read_share(pk: int, share: int) -> None:
    """Read a page of the HITs in a share of the campaign that a listing has left."""
    _work_on(pk, ShareWork.READ, share)


@shared_task(base=MarketplaceTask)
def pay_share(pk: int, share: int) -> None:
    """Make a batch of the payments that are due in a share of the campaign."""
    _work_on(pk, ShareWork.PAY, share)


def _work_on(pk: int, work: ShareWork, share: int) -> None:
    campaign = Campaign.objects.get(pk=pk)
    sync = sync_share(campaign, work, share)
    if sync.error:
        log.warning("%s: %s", campaign, sync.error)
    _continue(campaign, share, sync)


def _continue(campaign: Campaign, share: int, sync: Sync) -> None:
    """Put what a sync has left in a share at the end of the queue, behind other campaigns' work."""
    # Each regular sync queues the work again. If all workers are busy, the earlier tasks are
    # dropped, so that they do not pile up.
    within = settings.SYNC_SECONDS
    if sync.has_more_to_read:
        pass_on(read_share, campaign.pk, share, within=within)
    if sync.has_more_to_pay:
        pass_on(pay_share, campaign.pk, share, within=within)


def _at_most() -> int | None:
    """The limit of one sync. Without Celery workers there is nobody to continue."""
    return None if settings.CELERY_TASK_ALWAYS_EAGER else AT_ONCE


@shared_task(base=PatientTask)
def tell_barring(pk: int) -> None:
    """Send a barring, or its end, to the marketplace. If this fails, the next sync sends it."""
    barring = WorkerBarring.objects.select_related("hit_type__campaign", "account").get(pk=pk)
    try:
        tell(marketplace_of(barring.hit_type.campaign), barring)
    except DomainError as error:
        log.warning("%s", error)


@shared_task(base=PatientTask)
def tidy() -> None:
    """Delete rows whose retention period is over."""
    for _ in retention.tidy(at=timezone.now()):
        pass
