"""What runs by the clock, or behind a page's back: thin calls of services, safe to repeat."""

import logging

from celery import shared_task

from annotate.errors import DomainError
from annotate.models import Campaign, CampaignStatus
from hits.client import marketplace_of
from hits.models import Barring
from hits.reconciler import reconcile
from hits.steps.bar import tell

log = logging.getLogger(__name__)

MOVING = [CampaignStatus.RUNNING, CampaignStatus.PAUSED, CampaignStatus.FINISHED]


@shared_task
def sync_campaigns() -> None:
    """Run each minute by Celery beat: one task for each campaign that is not a draft."""
    for pk in Campaign.objects.filter(status__in=MOVING).values_list("pk", flat=True):
        sync_campaign.delay(pk)


@shared_task
def sync_campaign(pk: int) -> None:
    """Reconcile one campaign; what stopped it stands in its last Sync."""
    try:
        reconcile(Campaign.objects.get(pk=pk))
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
