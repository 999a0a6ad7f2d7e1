"""What runs by the clock, or behind a page's back: thin calls of services, safe to repeat."""

import logging

from celery import shared_task
from django.utils import timezone

from annotate.errors import DomainError
from annotate.models import Campaign, CampaignStatus
from hits.client import marketplace_of
from hits.events import is_listing_due, take_events
from hits.models import Barring
from hits.reconciler import reconcile
from hits.steps.bar import tell

log = logging.getLogger(__name__)

MOVING = [CampaignStatus.RUNNING, CampaignStatus.PAUSED, CampaignStatus.FINISHED]


@shared_task
def sync_campaigns() -> None:
    """Run each minute by Celery beat: take in the events, then one task for each campaign that is
    not a draft."""
    now = timezone.now()
    taken = take_events(at=now)
    for campaign in Campaign.objects.filter(status__in=MOVING):
        sync_campaign.delay(
            campaign.pk, is_whole=not taken.complete or is_listing_due(campaign, at=now)
        )


@shared_task
def sync_campaign(pk: int, is_whole: bool = True) -> None:
    """Reconcile one campaign; what stopped it stands in its last Sync."""
    try:
        reconcile(Campaign.objects.get(pk=pk), is_whole=is_whole)
    except DomainError as error:
        log.warning("%s", error)


@shared_task
def tell_barring(pk: int) -> None:
    """Tell the marketplace that a worker is to be kept away or let in; the next reconciliation
    does it if this fails."""
    barring = Barring.objects.select_related("hit_type__campaign", "account").get(pk=pk)
    try:
        tell(marketplace_of(barring.hit_type.campaign), barring)
    except DomainError as error:
        log.warning("%s", error)
