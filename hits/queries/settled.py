"""Which campaigns a sync by the clock may pass over."""

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotate.models import Campaign, CampaignStatus
from hits.models import (
    Assignment,
    Bonus,
    Hit,
    Listing,
    Sync,
    SyncProblem,
    SyncRequest,
    WorkerBarring,
)


def published() -> QuerySet[Campaign]:
    """All campaigns but drafts."""
    return Campaign.objects.exclude(status=CampaignStatus.DRAFT)


def campaigns_to_sync() -> QuerySet[Campaign]:
    """The campaigns that a sync may have something to do for: all but drafts, and but those that
    are finished and settled.

    A settled campaign has nothing at the marketplace, owes nothing, and its last sync read the
    account's list to the end and found nothing to do. What a page asks for is done in any case.
    """
    is_settled = Q(Exists(_quiet_last_sync())) & ~_left()
    return published().exclude(is_settled, status=CampaignStatus.FINISHED)


def _quiet_last_sync() -> QuerySet[Sync]:
    later = Sync.objects.filter(campaign=OuterRef("campaign"), pk__gt=OuterRef("pk"))
    return Sync.objects.filter(
        ~Exists(later),
        campaign=OuterRef("pk"),
        listing=Listing.ACCOUNT,
        error="",
        ingested=0,
        approved=0,
        rejected=0,
        hits_retired=0,
        finished_at__isnull=False,
    )


def _left() -> Q:
    """Whether anything of the campaign waits for a sync."""
    campaign = OuterRef("pk")
    return (
        Q(Exists(Hit.objects.alive().filter(campaign=campaign)))
        | Q(Exists(Assignment.objects.undecided().filter(hit__campaign=campaign)))
        | Q(Exists(Bonus.objects.filter(assignment__hit__campaign=campaign, sent_at=None)))
        | Q(Exists(_untold().filter(hit_type__campaign=campaign)))
        | Q(Exists(SyncProblem.objects.filter(campaign=campaign)))
        | Q(Exists(SyncRequest.objects.filter(campaign=campaign, sync=None)))
    )


def _untold() -> QuerySet[WorkerBarring]:
    return WorkerBarring.objects.exclude(is_in_force=F("is_wanted"))
