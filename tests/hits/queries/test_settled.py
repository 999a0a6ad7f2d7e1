"""A finished and settled campaign causes no scheduled calls or records."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotate.models import Campaign, CampaignStatus, Release, Response
from hits.models import Hit, HitStatus, Listing, Sync, WorkerMessage
from hits.mturk.client import Marketplace
from hits.mturk.connection import MarketplaceError
from hits.queries.settled import campaigns_to_sync, settled_since_release
from hits.reconcile.reconciler import reconcile
from hits.services.lifecycle import finish
from hits.services.worker_data import obstacle_to_erasure
from hits.tasks import sync_campaigns
from qualcontrol.notice_kinds import complete_campaigns
from qualcontrol.review.judging import judge
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    ExclusionFactory,
    HitFactory,
    ResponseFactory,
    TaskFactory,
    TeamFactory,
    UserFactory,
)
from tests.hits.framed_work import published, work

pytestmark = pytest.mark.django_db


def test_a_settled_campaign_adds_no_call_and_no_record(client, marketplace, requester):
    campaign = published(tasks=1)
    work(client, marketplace.fresh_workers(1)[0], campaign)
    finish(campaign=campaign, actor=None, at=NOON)
    for _ in range(2):
        call_command("sync")
        assert campaigns_to_sync().get() == campaign
    # The account's list is read to its end once an hour.
    reconcile(campaign, at=timezone.now() + timedelta(hours=2))
    syncs = campaign.syncs.count()

    call_command("sync")
    sync_campaigns()

    assert not campaigns_to_sync().exists()
    assert campaign.syncs.count() == syncs
    call_command("sync", campaign.slug)
    assert campaign.syncs.count() == syncs + 1


@pytest.mark.parametrize(
    "change",
    [
        {"error": "no answer"},
        {"ingested": 1},
        {"listing": Listing.CAMPAIGN},
        {"finished_at": None},
    ],
)
def test_a_finished_campaign_is_synced_until_nothing_is_left(change):
    campaign = CampaignFactory(status=CampaignStatus.FINISHED)
    quiet = {"started_at": NOON, "finished_at": NOON, "listing": Listing.ACCOUNT}
    Sync.objects.create(campaign=campaign, **quiet)
    assert not campaigns_to_sync().exists()

    Sync.objects.create(campaign=campaign, **quiet | change)
    assert campaigns_to_sync().exists()


@pytest.mark.parametrize(("who", "is_synced"), [("own", True), ("nocaps", False)])
def test_a_finished_campaign_of_own_people_is_asked_for_withdrawals_every_hour(who, is_synced):
    campaign = CampaignFactory(status=CampaignStatus.FINISHED, config={"workers": {"who": who}})
    now = timezone.now()
    quiet = {"finished_at": now, "listing": Listing.ACCOUNT, "campaign": campaign}
    Sync.objects.create(started_at=now - timedelta(minutes=61), **quiet)
    assert campaigns_to_sync().exists() == is_synced

    Sync.objects.create(started_at=now - timedelta(minutes=59), **quiet)
    assert not campaigns_to_sync().exists()

    # A sync from before the clock was set back says nothing.
    Sync.objects.create(started_at=now + timedelta(hours=5), **quiet)
    assert campaigns_to_sync().exists() == is_synced


@pytest.fixture
def settled():
    """A finished campaign that tells workers, whose last sync was two hours ago."""
    told = {"review": {"tells_workers": True, "pause_certainty": 1}}
    campaign = CampaignFactory(status=CampaignStatus.FINISHED, config=told)
    at = timezone.now() - timedelta(hours=2)
    Sync.objects.create(campaign=campaign, started_at=at, finished_at=at, listing=Listing.ACCOUNT)
    return campaign


def judge_bad(campaign, *, at):
    response = ResponseFactory(task=TaskFactory(campaign=campaign))
    judge(response=response, verdict="BAD", reason="not true", reviewer=UserFactory(), at=at)


@pytest.mark.parametrize(
    ("minutes", "is_due"), [(59, False), (61, True), (179, True), (181, False)]
)
def test_a_settled_campaign_is_synced_when_a_worker_is_to_be_told(settled, minutes, is_due):
    judge_bad(settled, at=timezone.now() - timedelta(minutes=minutes))

    assert campaigns_to_sync().exists() == is_due


@pytest.mark.parametrize(("minutes", "is_due"), [(119, True), (121, False)])
def test_a_settled_campaign_is_synced_after_an_exclusion(settled, minutes, is_due):
    ExclusionFactory(campaign=settled, excluded_at=timezone.now() - timedelta(minutes=minutes))

    assert campaigns_to_sync().exists() == is_due


@pytest.mark.parametrize("review", [{"tells_workers": False}, {}])
def test_a_settled_campaign_that_tells_workers_nothing_is_not_synced(settled, review):
    judge_bad(settled, at=timezone.now() - timedelta(minutes=61))
    settled.config_json["review"] = review
    settled.save()

    assert not campaigns_to_sync().exists()


def test_a_worker_is_told_of_a_verdict_after_the_campaign_is_settled(
    client, marketplace, requester
):
    review = {"tells_workers": True, "pause_certainty": 1, "approve_after_hours": 0}
    campaign = published(tasks=1, review=review)
    work(client, marketplace.fresh_workers(1)[0], campaign)
    finish(campaign=campaign, actor=None, at=NOON)
    for _ in range(2):
        call_command("sync")
    reconcile(campaign, at=timezone.now() + timedelta(hours=2))
    campaign.syncs.update(started_at=timezone.now() - timedelta(hours=2))
    assert not campaigns_to_sync().exists()
    judge(
        response=Response.objects.get(),
        verdict="BAD",
        reason="not true",
        reviewer=UserFactory(),
        at=timezone.now() - timedelta(minutes=61),
    )

    call_command("sync")

    assert WorkerMessage.objects.get().campaign == campaign
    assert not campaigns_to_sync().exists()


def test_a_campaign_is_settled_although_the_marketplace_refuses_an_exclusion(
    client, marketplace, requester, monkeypatch
):
    def refuse(*_, **__):
        raise MarketplaceError("The worker's account is closed.", is_refusal=True)

    campaign = published(tasks=2)
    work(client, marketplace.fresh_workers(1)[0], campaign)
    finish(campaign=campaign, actor=None, at=NOON)
    reconcile(campaign)
    worker = Response.objects.get().worker
    ExclusionFactory(campaign=campaign, worker=worker)
    monkeypatch.setattr(Marketplace, "grant", refuse)
    for hours in (1, 2, 3):
        reconcile(campaign, at=timezone.now() + timedelta(hours=hours))

    assert not campaigns_to_sync().exists()
    assert not obstacle_to_erasure(worker, timezone.now())


def test_a_finished_campaign_with_work_is_synced():
    campaign = CampaignFactory(status=CampaignStatus.FINISHED)
    Sync.objects.create(
        campaign=campaign, started_at=NOON, finished_at=NOON, listing=Listing.ACCOUNT
    )
    hit = HitFactory(hit_type__campaign=campaign, status=HitStatus.EXPIRED, available=0)
    assert campaigns_to_sync().exists()
    Hit.objects.update(status=HitStatus.RETIRED)
    assert not campaigns_to_sync().exists()

    assignment = AssignmentFactory(hit=hit)
    assert campaigns_to_sync().exists()
    assignment.delete()
    assert not campaigns_to_sync().exists()


def test_a_release_in_all_languages_is_one_of_each_campaign_of_the_family():
    """Their workers' ids are deleted after it, and no notice says that a release can be made."""
    done = {"status": CampaignStatus.FINISHED, "family": "scenes"}
    first, second = CampaignFactory(**done), CampaignFactory(**done)
    alone = CampaignFactory(**done, team=TeamFactory())
    Release.objects.create(
        name="all", campaign=first, languages=["en", "de"], seed=1, context={}, created_at=NOON
    )

    found = settled_since_release(NOON + timedelta(days=1))

    assert set(found) == {first, second}
    assert not settled_since_release(NOON).exists()
    for campaign in (first, second, alone):
        TaskFactory(campaign=campaign, answers_missing=0, places_left=0)
    Campaign.objects.update(status=CampaignStatus.PAUSED)
    assert [event.about for event in complete_campaigns(NOON)] == [alone]
