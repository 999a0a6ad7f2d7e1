"""Which of the planned HITs a sync creates at the marketplace."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.models import Campaign, CampaignStatus
from hits.models import Hit, HitStatus
from hits.reconcile import top_up
from hits.reconcile.reconciler import reconcile
from hits.reconcile.run import TOKENS_HOLD
from hits.services.lifecycle import change_reward
from tests.factories import AssignmentFactory, HitFactory, TaskFactory, UserFactory, make_campaign
from tests.hits.framed_work import published

# The order of the query for HITs that are too many.
LAST_FIRST = 'ORDER BY "hits_hit"."id" DESC'

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(requester, settings):
    """A campaign whose HITs were just listed."""
    settings.MTURK_LIST_SECONDS = 600
    return published(tasks=2)


def plan(campaign, planned_at):
    """A HIT of one slot that was planned at this time and never created."""
    return HitFactory(
        campaign=campaign,
        hit_type=campaign.hit_types.get(),
        hit_id=None,
        status=HitStatus.PLANNED,
        slots=1,
        available=0,
        token=f"planned-{planned_at:%s%f}",
        planned_at=planned_at,
        expires_at=None,
    )


def status_of(hit):
    hit.refresh_from_db()
    return hit.status


def test_a_hit_whose_token_may_be_forgotten_waits_for_a_listing(campaign):
    now = timezone.now()
    TaskFactory(campaign=campaign)
    forgotten = plan(campaign, now - TOKENS_HOLD - timedelta(seconds=1))
    remembered = plan(campaign, now - TOKENS_HOLD + timedelta(minutes=1))

    reconcile(campaign, at=now, is_whole=False)
    before = (status_of(forgotten), status_of(remembered))
    reconcile(campaign, at=now)

    # The creation may have reached the marketplace, and only a listing shows whether it did.
    assert before == (HitStatus.PLANNED, HitStatus.OPEN)
    assert status_of(forgotten) == HitStatus.OPEN


def change_the_reward(campaign):
    by = {"reason": "", "actor": UserFactory(), "at": timezone.now()}
    change_reward(campaign=campaign, reward=Decimal("0.25"), seen=Decimal("0.10"), **by)


YEAR = timedelta(days=365)


@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize("ahead", [timedelta(minutes=-1), YEAR], ids=["before", "by a fast clock"])
def test_a_planned_hit_is_not_created_at_an_earlier_reward(campaign, is_whole, ahead):
    """As after the account had no money for the earlier reward."""
    planned = plan(campaign, timezone.now() + ahead)
    change_the_reward(campaign)

    reconcile(campaign, is_whole=is_whole)
    first = Hit.objects.filter(pk=planned.pk).first()
    reconcile(campaign)

    # Only a listing shows that the call that was to create it never reached the marketplace.
    assert (first is None) if is_whole else (first.status == HitStatus.PLANNED)
    opened = Hit.objects.filter(status=HitStatus.OPEN)
    assert {hit.reward for hit in opened} == {Decimal("0.25")}
    assert not Hit.objects.filter(status=HitStatus.PLANNED).exists()


def test_a_campaign_that_is_paused_during_a_sync_gets_no_more_hits(requester, monkeypatch):
    campaign = make_campaign(tasks=2)

    def pause(_run):
        Campaign.objects.filter(pk=campaign.pk).update(status=CampaignStatus.PAUSED)

    monkeypatch.setattr(top_up, "_expire_stuck", pause)
    done = reconcile(campaign)

    assert done.hits_created == 0
    assert set(Hit.objects.values_list("status", flat=True)) == {HitStatus.PLANNED}


def test_open_hits_are_not_read_if_none_is_too_many(campaign):
    """A large campaign has thousands of them, at each sync."""
    with CaptureQueriesContext(connection) as captured:
        reconcile(campaign, steps=[top_up.top_up], is_whole=False)

    from_the_last = [each["sql"] for each in captured if LAST_FIRST in each["sql"]]
    assert from_the_last == []


def test_excess_hits_are_expired_the_last_ones_first(requester):
    campaign = published(tasks=4)
    before = list(Hit.objects.order_by("pk"))
    for task in campaign.tasks.all()[:2]:
        campaign.tasks.filter(pk=task.pk).update(answers_missing=0, places_left=0)

    with CaptureQueriesContext(connection) as captured:
        reconcile(campaign, steps=[top_up.top_up], is_whole=False)
    once = [status_of(hit) for hit in before]
    reconcile(campaign, steps=[top_up.top_up], is_whole=False)
    twice = [status_of(hit) for hit in before]

    assert any(LAST_FIRST in each["sql"] for each in captured)
    assert once == [HitStatus.OPEN] * 2 + [HitStatus.EXPIRED] * 2
    # Until a listing, the slots of the expired HITs count as outstanding.
    assert twice == once


def test_only_as_many_hits_are_expired_as_the_budget_lacks(requester):
    """As after a restored backup, which does not know what was spent since."""
    campaign = published(tasks=4)
    opened = list(Hit.objects.order_by("pk"))
    cost = sum(hit.slots * (hit.reward + hit.fee) for hit in opened)
    Campaign.objects.filter(pk=campaign.pk).update(budget=cost * 3 / 4)

    reconcile(campaign, steps=[top_up.top_up], is_whole=False)

    assert [status_of(hit) for hit in opened] == [HitStatus.OPEN] * 3 + [HitStatus.EXPIRED]
    assert Hit.objects.count() == len(opened)


def test_a_hit_with_fewer_unwanted_slots_than_free_ones_stays_open(requester):
    campaign = published(tasks=4)
    last = Hit.objects.latest("pk")
    Hit.objects.filter(pk=last.pk).update(slots=2, available=2)

    reconcile(campaign, steps=[top_up.top_up], is_whole=False)

    # One slot more than there are tasks.
    assert {status_of(hit) for hit in Hit.objects.all()} == {HitStatus.OPEN}


def test_excess_hits_that_were_never_created_are_deleted_after_a_listing(campaign):
    """As after the account had no money, and the work was done in other HITs meanwhile."""
    plan(campaign, timezone.now() - timedelta(minutes=1))

    done = reconcile(campaign)

    assert done.hits_created == 0
    assert set(Hit.objects.values_list("status", flat=True)) == {HitStatus.OPEN}


@pytest.mark.parametrize(
    ("changes", "minutes_ago", "expected"),
    [
        ({}, 31, HitStatus.EXPIRED),
        ({}, 29, HitStatus.OPEN),
        ({"ingested": 0}, 31, HitStatus.OPEN),
        ({"pending": 1}, 31, HitStatus.OPEN),
        ({"available": 0}, 31, HitStatus.OPEN),
        ({"status": HitStatus.GONE}, 31, HitStatus.GONE),
    ],
)
def test_a_hit_that_no_worker_takes_is_expired(requester, changes, minutes_ago, expected):
    """All workers with tasks left may have taken a slot of it already."""
    campaign = published(tasks=2, hit={"minutes": 30})
    used = Hit.objects.latest("pk")
    Hit.objects.filter(pk=used.pk).update(**({"available": 1, "ingested": 1} | changes))
    now = timezone.now()
    AssignmentFactory(hit=used, submitted_at=now - timedelta(minutes=minutes_ago))

    reconcile(campaign, steps=[top_up.top_up], is_whole=False, at=now)

    assert status_of(used) == expected
