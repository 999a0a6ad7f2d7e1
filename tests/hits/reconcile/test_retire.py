"""The HITs that `retire` deletes at the marketplace."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from hits.models import Assignment, Bonus, Hit
from hits.reconcile.retire import settled_hits
from tests.factories import AssignmentFactory, HitFactory, HitTypeFactory, make_campaign

pytestmark = pytest.mark.django_db

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def hit():
    """An expired HIT of one slot, whose assignment was approved two days ago."""
    hit_type = HitTypeFactory(campaign=make_campaign(tasks=1))
    counts = {"slots": 1, "available": 0, "pending": 0, "ingested": 1, "settled": 1}
    hit = HitFactory(hit_type=hit_type, status="EXPIRED", **counts)
    AssignmentFactory(hit=hit, status="APPROVED", decided_at=timezone.now() - 2 * DAY)
    return hit


def decide(status, ago):
    Assignment.objects.update(status=status, decided_at=timezone.now() - ago)


@pytest.mark.parametrize(
    ("change", "is_settled"),
    [
        ({}, True),
        ({"status": "OPEN"}, True),
        ({"status": "OPEN", "slots": 2}, False),
        ({"slots": 2}, True),
        ({"available": 1, "slots": 2}, False),
        ({"pending": 1, "slots": 2}, False),
        ({"settled": 0}, False),
        ({"status": "RETIRED"}, False),
    ],
)
def test_a_hit_is_settled_when_nobody_works_on_it_and_all_is_decided(hit, change, is_settled):
    Hit.objects.update(**change)

    assert settled_hits(hit.campaign).exists() == is_settled


@pytest.mark.parametrize(
    ("status", "ago", "campaign_status", "is_settled"),
    [
        ("APPROVED", 23 * HOUR, "RUNNING", False),
        ("APPROVED", 25 * HOUR, "RUNNING", True),
        ("APPROVED", HOUR, "FINISHED", True),
        ("APPROVED", -HOUR, "FINISHED", True),  # by the marketplace's clock
        ("REJECTED", 29 * DAY, "FINISHED", False),
        ("REJECTED", 31 * DAY, "RUNNING", True),
    ],
)
def test_a_hit_is_kept_while_somebody_may_look_or_revert(
    hit, status, ago, campaign_status, is_settled
):
    decide(status, ago)
    hit.campaign.status = campaign_status

    assert settled_hits(hit.campaign).exists() == is_settled


def test_a_hit_is_kept_until_its_bonus_is_sent(hit):
    bonus = {"amount": Decimal(1), "fee": Decimal("0.2"), "reason": "Good work."}
    Bonus.objects.create(
        assignment=hit.assignments.get(), token="t", planned_at=timezone.now(), **bonus
    )
    assert not settled_hits(hit.campaign).exists()

    Bonus.objects.update(sent_at=timezone.now())
    assert settled_hits(hit.campaign).exists()
