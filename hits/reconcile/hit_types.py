"""A campaign's HIT types at the marketplace, with the qualification that bars workers from their
HITs, and with the queue that gets their events, if any.

Events only make syncs faster. If the marketplace does not send them, each sync lists all HITs.
"""

import logging
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import F, Q, QuerySet

from annotate.campaign_file import Workers
from annotate.models import Campaign
from corpora.errors import DomainError
from hits.models import HitType
from hits.mturk.client import Marketplace
from hits.mturk.connection import MarketplaceError
from hits.reconcile.run import Run

NUMBER_HITS_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
PERCENT_ASSIGNMENTS_APPROVED = "000000000000000000L0"
MASTERS = "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"
MASTERS_IN_SANDBOX = "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"

# MTurk's limit for the locales of one requirement.
MOST_COUNTRIES = 30


def qualification_requirements(
    workers: Workers, *, exclusion_type_id: str, endpoint: str
) -> list[dict[str, Any]]:
    """The requirements of a campaign's HIT type. Raises DomainError for too many countries.

    System requirements guard accepting only, so that workers see which one they lack. The exclusion
    hides the campaign's HITs.
    """
    requirements: list[dict[str, Any]] = []
    if workers.countries:
        requirements.append(_country(workers.countries))
    if workers.approved_hits:
        requirements.append(
            _requirement(
                NUMBER_HITS_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[workers.approved_hits]
            )
        )
    if workers.approval_rate:
        requirements.append(
            _requirement(
                PERCENT_ASSIGNMENTS_APPROVED, "GreaterThan", IntegerValues=[workers.approval_rate]
            )
        )
    if workers.masters:
        masters = MASTERS_IN_SANDBOX if endpoint == "sandbox" else MASTERS
        requirements.append(_requirement(masters, "Exists"))
    requirements.append(
        _requirement(exclusion_type_id, "DoesNotExist", guarded="DiscoverPreviewAndAccept")
    )
    return requirements


def _country(countries: tuple[str, ...]) -> dict[str, Any]:
    unique = sorted(set(countries))
    if len(unique) > MOST_COUNTRIES:
        raise DomainError(
            f"workers.countries names {len(unique)} countries; the marketplace allows at most "
            f"{MOST_COUNTRIES}. Leave the key empty to let workers of every country in."
        )
    comparator = "EqualTo" if len(unique) == 1 else "In"
    return _requirement(
        LOCALE, comparator, LocaleValues=[{"Country": country} for country in unique]
    )


def _requirement(
    qualification: str, comparator: str, *, guarded: str = "Accept", **values: Any
) -> dict[str, Any]:
    return {
        "QualificationTypeId": qualification,
        "Comparator": comparator,
        "ActionsGuarded": guarded,
        **values,
    }


def ensure_hit_type(campaign: Campaign, marketplace: Marketplace, *, at: datetime) -> HitType:
    """The campaign's HIT type for its reward, created at the marketplace if needed. Safe to
    repeat.

    All HIT types of a campaign have the same exclusion. Raises MarketplaceError.
    """
    config = campaign.config
    current = current_hit_types(campaign).first()
    if current is not None:
        return current
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
