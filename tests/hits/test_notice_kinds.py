"""Notices about work and money."""

from datetime import timedelta
from decimal import Decimal

import pytest

from annotate.models import Campaign, Response, Task
from hits.notice_kinds import short_budgets, standing_still
from qualcontrol.models import Act
from tests.factories import NOON, CampaignFactory, HitFactory, ResponseFactory, TaskFactory

pytestmark = pytest.mark.django_db

LATER = NOON + timedelta(hours=6)


def running_campaign(**values):
    campaign = CampaignFactory(slug="pilot", **values)
    HitFactory(hit_type__campaign=campaign, planned_at=NOON)
    return campaign, TaskFactory(campaign=campaign)


def test_a_campaign_without_a_submission_for_six_hours_stands_still():
    campaign, task = running_campaign()

    assert list(standing_still(LATER - timedelta(seconds=1))) == []
    (event,) = standing_still(LATER)

    assert (event.about, event.path) == (campaign, "/campaigns/pilot/")
    assert "none was submitted in the last 6 hours" in event.text
    ResponseFactory(task=task, submitted_at=LATER)
    assert list(standing_still(LATER)) == []
    Response.objects.update(submitted_at=NOON)
    assert len(list(standing_still(LATER))) == 1


@pytest.mark.parametrize("status", ["DRAFT", "PAUSED", "FINISHED"])
def test_a_campaign_that_does_not_run_does_not_stand_still(status):
    running_campaign(status=status)

    assert list(standing_still(LATER)) == []


def test_a_campaign_that_was_paused_does_not_stand_still_as_soon_as_it_runs_again():
    campaign, _ = running_campaign()
    campaign.decisions.create(act=Act.CONTINUE, at=LATER)

    assert list(standing_still(LATER + timedelta(hours=5))) == []
    assert len(list(standing_still(LATER + timedelta(hours=6)))) == 1


def test_a_campaign_that_misses_nothing_does_not_stand_still():
    running_campaign()
    Task.objects.update(answers_missing=0, places_left=0)

    assert list(standing_still(LATER)) == []


def test_a_budget_of_which_a_tenth_is_left_is_told_if_it_does_not_suffice():
    # One HIT of nine slots for $0.12 each: $1.08 are reserved, and eleven captions are wanted.
    campaign, _ = running_campaign(budget=Decimal("1.20"))

    (event,) = short_budgets(NOON)

    assert event.text.startswith("$1.08 of $1.20 are paid or reserved. The budget does not cover")
    Campaign.objects.update(budget=Decimal("1.30"))
    assert list(short_budgets(NOON)) == []
    Campaign.objects.update(budget=Decimal("1.20"))
    campaign.tasks.update(answers_missing=9, places_left=9)
    assert list(short_budgets(NOON)) == []
