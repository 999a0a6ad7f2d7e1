"""A campaign's HIT types at the marketplace, with the qualification that bars workers from their
HITs, and with the queue that gets their events, if any.

Events only make syncs faster. If the marketplace does not send them, each sync lists all HITs.
"""

import logging
from datetime import datetime

from django.conf import settings
from django.db.models import F, Q, QuerySet

from annotate.models import Campaign
from hits.models import HitType
from hits.mturk.client import Marketplace, MarketplaceError
from hits.reconcile.run import Run
from qualcontrol.requirements import qualification_requirements


def ensure_hit_type(campaign: Campaign, marketplace: Marketplace, *, at: datetime) -> HitType:
    """Return the campaign's HIT type for its reward, created at the marketplace if needed. Safe to
    repeat.

    All HIT types of a campaign have the same exclusion. Raises MarketplaceError.
    """
    config = campaign.config
    known = current_hit_types(campaign).first()
    if known is not None:
        return known
    earlier = campaign.hit_types.first()
    exclusion = (
        earlier.exclusion_type_id
        if earlier
        else marketplace.qualification_type(
            name=f"{campaign.slug}: nothing left to do ({campaign.created_at:%Y%m%d%H%M%S})",
            description="Given to workers for whom the campaign has no work at the moment, so that "
            "its HITs are not offered to them. It says nothing about the quality of their work.",
        )
    )
    hit_type_id = marketplace.hit_type(
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
    hit_type, _ = HitType.objects.update_or_create(
        campaign=campaign,
        hit_type_id=hit_type_id,
        defaults={"reward": config.hit.reward},
        create_defaults={
            "exclusion_type_id": exclusion,
            "reward": config.hit.reward,
            "created_at": at,
        },
    )
    return hit_type


def current_hit_types(campaign: Campaign) -> QuerySet[HitType]:
    """The campaign's HIT types with its present reward."""
    present = Q(reward=campaign.config.hit.reward) | Q(reward=None)
    return campaign.hit_types.filter(present).order_by(F("reward").asc(nulls_last=True), "pk")


log = logging.getLogger(__name__)

# Events that change a HIT's counts or add something to read.
EVENT_TYPES = [
    "AssignmentSubmitted",
    "AssignmentReturned",
    "AssignmentAbandoned",
    "AssignmentApproved",
    "AssignmentRejected",
    "HITReviewable",
    "HITExpired",
]
# The version in AWS's documentation and in its messages.
VERSION = "2014-08-15"


def listen(run: Run) -> None:
    """Ask for the events of each HIT type that does not send them to the configured queue.

    Without a queue, stop the events instead. A failure is logged, and the next sync tries again.
    """
    queue_url = settings.MTURK_NOTIFICATION_QUEUE_URL
    for hit_type in run.campaign.hit_types.exclude(queue_url=queue_url):
        try:
            if queue_url:
                run.marketplace.send_events(
                    hit_type_id=hit_type.hit_type_id,
                    queue_url=queue_url,
                    event_types=EVENT_TYPES,
                    version=VERSION,
                )
            else:
                run.marketplace.stop_events(hit_type.hit_type_id)
        except MarketplaceError as error:
            log.warning("No events for %s; all HITs are listed instead: %s", run.campaign, error)
            continue
        HitType.objects.filter(pk=hit_type.pk).update(queue_url=queue_url)
