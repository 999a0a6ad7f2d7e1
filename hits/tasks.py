"""Celery tasks that run on a schedule or in the background. They call services, and are safe to
repeat."""

import logging
from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from annotate.errors import DomainError
from annotate.models import Campaign
from annotate.site.background import PatientTask, hand_on
from hits.models import WorkerBarring
from hits.mturk.client import marketplace_of
from hits.queries.settled import campaigns_to_sync
from hits.reconcile.bar import tell
from hits.reconcile.events import is_listing_due, take_events
from hits.reconcile.reconciler import SyncBusy, reconcile
from hits.services import retention

log = logging.getLogger(__name__)

# Time for payments in one sync; the next sync resumes them. Without a limit, syncs of a campaign
# would pile up.
PAYS_FOR = timedelta(minutes=2)


@shared_task(base=PatientTask)
def sync_campaigns() -> None:
    """Process the events, then start one task for each campaign that may need a sync.

    Celery beat runs this task every minute.
    """
    now = timezone.now()
    taken = take_events(at=now)
    for campaign in campaigns_to_sync():
        is_whole = not taken.complete or is_listing_due(campaign, at=now)
        hand_on(sync_campaign, campaign.pk, is_whole=is_whole)


@shared_task(base=PatientTask)
def sync_campaign(pk: int, is_whole: bool = True) -> None:
    """Sync one campaign. Failures are recorded in its Sync and its SyncProblems."""
    try:
        done = reconcile(Campaign.objects.get(pk=pk), is_whole=is_whole, pays_for=PAYS_FOR)
    except SyncBusy as error:
        log.info("%s", error)
    except DomainError as error:
        log.warning("%s", error)
    else:
        if done.error:
            log.warning("%s: %s", done.campaign, done.error)


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
    """Delete rows whose retention period is over. Celery beat runs this task once a day."""
    for _ in retention.tidy(at=timezone.now()):
        pass
