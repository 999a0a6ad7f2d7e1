"""Create a campaign's HIT type, and the qualification that bars workers from its HITs."""

from datetime import datetime

from django.db.models import F, Q, QuerySet

from annotate.models import Campaign
from hits.models import HitType
from hits.mturk.client import Marketplace
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
