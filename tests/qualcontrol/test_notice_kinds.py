"""Notices of quality control."""

from datetime import timedelta

import pytest

from annotate.exports.records import context_of
from annotate.models import Campaign, Release
from qualcontrol.models import Appeal, SecondOpinion, SpotCheck
from qualcontrol.notice_kinds import complete_campaigns, open_appeals, waiting_reviews
from tests.factories import (
    NOON,
    CampaignFactory,
    ExclusionFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


def complete_campaign(**values):
    campaign = CampaignFactory(slug="done", config={"references": 1}, **values)
    task = TaskFactory(campaign=campaign)
    ResponseFactory(task=task)
    ResponseFactory(task=task)
    return campaign


def test_reviews_that_wait_for_an_hour_are_told_in_one_event():
    campaign = CampaignFactory(slug="pilot")
    for _ in range(2):
        SpotCheckFactory(response__task__campaign=campaign, drawn_at=NOON)

    assert list(waiting_reviews(NOON + timedelta(minutes=59))) == []
    (event,) = waiting_reviews(NOON + timedelta(hours=1))

    assert event.text == "2 captions wait for a review, the first since 2 Nov, 12:00 UTC."
    assert (event.about, event.path) == (campaign, "/review/pilot/")
    SpotCheck.objects.update(verdict="GOOD", judged_at=NOON)
    assert list(waiting_reviews(NOON + timedelta(hours=1))) == []


def test_a_second_opinion_about_a_response_without_a_check_waits_as_well():
    campaign = CampaignFactory(slug="pilot")
    SpotCheckFactory(response__task__campaign=campaign, drawn_at=NOON + timedelta(hours=1))
    response = ResponseFactory(task__campaign=campaign)
    SecondOpinion.objects.create(
        campaign=campaign,
        key=response.key,
        response=response,
        asked_by=UserFactory(),
        asked_at=NOON,
    )

    (event,) = waiting_reviews(NOON + timedelta(hours=1))

    assert event.text == "2 captions wait for a review, the first since 2 Nov, 12:00 UTC."


def test_reviews_of_a_finished_campaign_wait_for_nobody():
    SpotCheckFactory(response__task__campaign__status="FINISHED", drawn_at=NOON)

    assert list(waiting_reviews(NOON + timedelta(days=1))) == []


def test_an_open_appeal_is_told_with_the_workers_pseudonym():
    exclusion = ExclusionFactory(campaign__slug="pilot")
    appeal = Appeal.objects.create(exclusion=exclusion, text="Why?", received_at=NOON)

    (event,) = open_appeals(NOON)

    assert exclusion.worker.pseudonym in event.text
    assert event.path == f"/review/pilot/workers/{exclusion.worker.pseudonym}/"
    Appeal.objects.filter(pk=appeal.pk).update(answer="So.", answered_at=NOON)
    assert list(open_appeals(NOON)) == []


def test_a_campaign_is_complete_when_nothing_is_missing_and_no_question_is_open():
    campaign = complete_campaign()

    (event,) = complete_campaigns(NOON)

    assert (event.about, event.path) == (campaign, "/review/done/releases/")


def test_a_campaign_with_an_open_check_or_a_missing_response_is_not_complete():
    campaign = complete_campaign()
    SpotCheckFactory(response=campaign.tasks.get().responses.first())

    assert list(complete_campaigns(NOON)) == []
    SpotCheck.objects.all().delete()
    TaskFactory(campaign=campaign)
    assert list(complete_campaigns(NOON)) == []


def test_a_campaign_without_tasks_or_with_a_release_needs_no_notice():
    CampaignFactory()
    assert list(complete_campaigns(NOON)) == []
    campaign = complete_campaign()
    Release.objects.create(
        name="v1", campaign=campaign, seed=1, created_at=NOON, context=context_of(campaign)
    )
    assert list(complete_campaigns(NOON)) == []
    Release.objects.update(is_partial=True)
    assert len(list(complete_campaigns(NOON))) == 1
    Campaign.objects.update(status="FINISHED")
    assert list(complete_campaigns(NOON)) == []
