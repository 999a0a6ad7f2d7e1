"""What runs behind a page's back: thin calls of services, safe to repeat."""

import logging

from celery import shared_task
from django.utils import timezone

from annotate.errors import DomainError
from annotate.models import Campaign
from annotate.site.background import PatientTask
from qualcontrol import services

log = logging.getLogger(__name__)


@shared_task(base=PatientTask)
def make_release(campaign_pk: int, name: str, seed: int, partial: bool) -> None:
    """Freeze a release; made twice, it is refused the second time and stays as it is."""
    campaign = Campaign.objects.get(pk=campaign_pk)
    try:
        services.release_campaign(
            campaign=campaign, name=name, seed=seed, at=timezone.now(), partial=partial
        )
    except DomainError as error:
        log.warning("release %s: %s", name, error)
