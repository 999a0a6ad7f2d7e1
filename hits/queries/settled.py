"""The campaigns that a regular sync can skip."""

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotate.models import Campaign, CampaignStatus, Release
from hits.models import (
    TOLD_AFTER,
    Assignment,
    Bonus,
    Hit,
    Listing,
    MessageRecipient,
    MessageStatus,
    Sync,
    SyncProblem,
)
from qualcontrol.models import Exclusion, SpotCheck, Verdict

ASK_AGAIN_AFTER = timedelta(hours=1)


def published() -> QuerySet[Campaign]:
    """All campaigns except drafts."""
    return Campaign.objects.exclude(status=CampaignStatus.DRAFT)


def campaigns_to_sync() -> QuerySet[Campaign]:
    """The campaigns that need regular syncs: all except drafts and settled ones.

    A campaign is settled if it is finished, has no HITs at the marketplace and owes no money, and
    if its last sync read the account's whole list of HITs and changed nothing. Own people may
    withdraw their work long after: their campaigns are synced every ASK_AGAIN_AFTER. A campaign
    that tells workers is synced when a message has come due since its last sync.
    """
    own, now = Q(config_json__workers__who="own"), timezone.now()
    quiet = _quiet_last_sync()
    recent = quiet.filter(started_at__gt=now - ASK_AGAIN_AFTER, started_at__lte=now)
    is_quiet = Q(Exists(recent)) | (~own & Q(Exists(quiet)))
    tells = Q(config_json__review__tells_workers=True)
    is_settled = is_quiet & ~(tells & _message_is_due(quiet, now)) & ~_left()
    return published().exclude(is_settled, status=CampaignStatus.FINISHED)


def settled_since_release(before: datetime) -> QuerySet[Campaign]:
    """The finished campaigns that owe nothing and whose last release is older than this.

    A campaign without a release is not among them: its data may still be needed for one.
    """
    released = Release.objects.of_outer_campaign()
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


def _message_is_due(last_sync: QuerySet[Sync], at: datetime) -> Q:
    """Whether a message to a worker (`tell_workers`) has come due since the last sync, or since a
    time that is not reached yet."""
    campaign, told_at = OuterRef("campaign"), OuterRef("started_at")
    checks = SpotCheck.objects.filter(campaign=campaign, verdict=Verdict.BAD)
    bad = checks.filter(judged_at__gt=told_at - TOLD_AFTER, judged_at__lte=at - TOLD_AFTER)
    exclusions = Exclusion.objects.in_force().filter(campaign=campaign)
    excluded = exclusions.filter(excluded_at__gt=told_at, excluded_at__lte=at)
    due = Q(Exists(bad)) | Q(Exists(excluded)) | Q(started_at__gt=at)
    return Q(Exists(last_sync.filter(due)))


def _left() -> Q:
    """Whether the campaign has rows that a sync must still process."""
    campaign = OuterRef("pk")
    unsent = MessageRecipient.objects.filter(status=MessageStatus.PLANNED)
    return (
        Q(Exists(Hit.objects.alive().filter(campaign=campaign)))
        | Q(Exists(Assignment.objects.undecided().filter(hit__campaign=campaign)))
        | Q(Exists(Bonus.objects.unsent().filter(assignment__hit__campaign=campaign)))
        | Q(Exists(unsent.filter(message__campaign=campaign)))
        | Q(Exists(SyncProblem.objects.filter(campaign=campaign)))
    )
