"""Celery tasks of this app. Each is safe to repeat."""

import logging

from celery import shared_task
from django.utils import timezone

from annotate.errors import DomainError
from annotate.exports.hiding import Rule
from annotate.models import Campaign
from annotate.selection.domains import DEFAULT_PRESET
from annotate.site.background import PatientTask
from qualcontrol.services.releasing import release_campaign

log = logging.getLogger(__name__)


@shared_task(base=PatientTask)
def make_release(
    campaign_pk: int,
    name: str,
    seed: int,
    partial: bool,
    hidden: Rule | None = None,
    domains: str = DEFAULT_PRESET,
) -> None:
    """Create a release. If a release of that name exists, log a warning and leave it unchanged."""
    campaign = Campaign.objects.get(pk=campaign_pk)
    try:
        release_campaign(
            campaign=campaign,
            name=name,
            seed=seed,
            at=timezone.now(),
            partial=partial,
            hidden=hidden,
            domains=domains,
        )
    except DomainError as error:
        log.warning("release %s: %s", name, error)
