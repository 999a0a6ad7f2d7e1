"""The campaigns that a regular sync can skip."""

from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotate.models import Campaign, CampaignStatus, Release
from hits.models import (
    Assignment,
    Bonus,
    Hit,
    Listing,
    MessageRecipient,
    MessageStatus,
    Sync,
    SyncProblem,
    WorkerBarring,
)


def published() -> QuerySet[Campaign]:
    """Return all campaigns except drafts."""
    return Campaign.objects.exclude(status=CampaignStatus.DRAFT)


def campaigns_to_sync() -> QuerySet[Campaign]:
    """Return the campaigns that need regular syncs: all except drafts and settled ones.

    A campaign is settled if it is finished, has no HITs at the marketplace and owes no money, and
    if its last sync read the account's whole list of HITs and changed nothing.
    """
    is_settled = Q(Exists(_quiet_last_sync())) & ~_left()
    return published().exclude(is_settled, status=CampaignStatus.FINISHED)


def settled_since_release(before: datetime) -> QuerySet[Campaign]:
    """Return the finished campaigns that owe nothing and whose last release is older than this.

    A campaign without a release is not among them: its data may still be needed for one.
    """
    released = Release.objects.filter(campaign=OuterRef("pk"))
    return Campaign.objects.filter(
        ~_left(),
        Exists(released),
        ~Exists(released.filter(created_at__gte=before)),
        status=CampaignStatus.FINISHED,
    )


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
    """Whether the campaign has rows that a sync must still process."""
    campaign = OuterRef("pk")
    return (
        Q(Exists(Hit.objects.alive().filter(campaign=campaign)))
        | Q(Exists(Assignment.objects.undecided().filter(hit__campaign=campaign)))
        | Q(Exists(Bonus.objects.filter(assignment__hit__campaign=campaign, sent_at=None)))
        | Q(Exists(_unsent().filter(message__campaign=campaign)))
        | Q(Exists(_untold().filter(hit_type__campaign=campaign)))
        | Q(Exists(SyncProblem.objects.filter(campaign=campaign)))
    )


def _unsent() -> QuerySet[MessageRecipient]:
    return MessageRecipient.objects.filter(status=MessageStatus.PLANNED)


def _untold() -> QuerySet[WorkerBarring]:
    return WorkerBarring.objects.exclude(is_in_force=F("is_wanted"))
