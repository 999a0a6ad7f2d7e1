"""Releases wait for required checks and open decisions."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.exports.provenance import collection_of, quality_of
from annotate.models import Behaviour, Campaign, Release, Response
from qualcontrol.models import Exclusion
from qualcontrol.services.exclusions import propose_exclusion
from qualcontrol.services.releasing import ReleaseRefused, open_questions, release_campaign
from tests.factories import (
    NOON,
    CampaignFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    WorkerFactory,
)
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, judge, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    """One image with all its captions."""
    campaign = CampaignFactory(config={"references": 2, "baselines": 1, "seed": 4})
    task = TaskFactory(campaign=campaign)
    for _ in range(3):
        ResponseFactory(task=task)
    return campaign


def any_response(campaign):
    return campaign.tasks.first().responses.first()


def test_a_finished_campaign_has_no_open_questions_and_is_released(campaign):
    assert open_questions(campaign) == []

    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)

    assert not release.is_partial
    assert release.images.get().captions.count() == 3


def test_a_release_has_the_file_of_a_draft_that_was_edited_since_it_was_read(campaign):
    read_before = Campaign.objects.get(pk=campaign.pk)
    assert read_before.config.budget == 1000
    file = {**campaign.config_json, "budget": "77.00"}
    Campaign.objects.filter(pk=campaign.pk).update(config_json=file)

    release = release_campaign(campaign=read_before, name="v1", seed=1, at=NOON)

    assert release.config.budget == 77


def test_an_open_spot_check_holds_a_release_up(campaign):
    SpotCheckFactory(response=any_response(campaign))

    with pytest.raises(ReleaseRefused, match="1 required check is not done"):
        release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)

    assert not Release.objects.exists()


def test_a_response_that_counts_although_it_is_judged_bad_holds_a_release_up(campaign):
    """Nothing of the site leaves one behind; a change by hand in the database can."""
    response = any_response(campaign)
    judge(response, "BAD")
    campaign.tasks.update(answers_missing=0, places_left=0)
    type(response).objects.update(status="SUBMITTED")

    with pytest.raises(ReleaseRefused, match="1 response that is judged bad still counts"):
        release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)


def test_open_questions_of_another_campaign_hold_no_release_up(campaign):
    response = any_response(campaign)
    other = CampaignFactory()
    theirs = ResponseFactory(task__campaign=other, worker=response.worker)
    SpotCheckFactory(response=theirs)
    about = {"campaign": other, "worker": response.worker, "reason": "lists"}
    propose_exclusion(**about, at=NOON)
    Exclusion.objects.create(**about, excluded_at=NOON)

    assert open_questions(campaign) == []
    assert len(open_questions(other)) == 3


def test_a_partial_release_goes_over_open_questions(campaign):
    SpotCheckFactory(response=any_response(campaign))

    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON, partial=True)

    assert release.is_partial


def test_a_counting_response_of_an_excluded_worker_is_an_open_question(campaign):
    worker = any_response(campaign).worker
    Exclusion.objects.create(campaign=campaign, worker=worker, reason="lists", excluded_at=NOON)

    assert open_questions(campaign) == ["1 response of an excluded worker is not discarded yet"]


def test_captions_before_an_excluded_workers_first_bad_one_are_no_open_question():
    review = {**NO_REQUIRED_CHECKS, "policy": "propose", "discard": "since_first_bad"}
    campaign = CampaignFactory(config={"review": review})
    judged, unjudged = WorkerFactory.create_batch(2)
    bad = write(campaign, judged, 5)[2]
    write(campaign, unjudged, 2)
    judge(bad, "BAD")
    for worker in (judged, unjudged):
        Exclusion.objects.create(campaign=campaign, worker=worker, reason="lists", excluded_at=NOON)

    # The two after the bad one, and both of the worker of whom nothing is known.
    assert open_questions(campaign) == ["4 responses of excluded workers are not discarded yet"]


@pytest.mark.parametrize("discard", ["all", "since_first_bad"])
def test_open_questions_take_as_many_queries_for_any_number_of_excluded_workers(discard):
    campaign = CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "discard": discard}})

    def queries(workers):
        for worker in WorkerFactory.create_batch(workers):
            write(campaign, worker)
            Exclusion.objects.create(
                campaign=campaign, worker=worker, reason="lists", excluded_at=NOON
            )
        with CaptureQueriesContext(connection) as queries:
            open_questions(campaign)
        return len(queries)

    assert queries(1) == queries(4)


def test_the_release_command_takes_the_campaigns_seed(campaign, capsys):
    call_command("release", campaign.slug, name="v1")

    assert Release.objects.get().seed == 4
    assert "Release v1: 1 image." in capsys.readouterr().out


def test_the_release_command_says_what_is_missing(campaign):
    TaskFactory(campaign=campaign, image__key="0123abcd")

    with pytest.raises(CommandError, match="image 0123abcd has 0 of 3 captions"):
        call_command("release", campaign.slug, name="v1")

    assert not Release.objects.exists()


def test_the_release_command_knows_no_such_campaign():
    with pytest.raises(CommandError, match="There is no campaign 'nothing'"):
        call_command("release", "nothing", name="v1")


def test_a_release_says_how_its_texts_came_and_what_spot_checks_say(campaign):
    first, second, third = Response.objects.order_by("pk")
    of_text = {"typed": 30, "completed": 10, "pasted": 10}
    Behaviour.objects.create(response=first, characters=of_text)
    Behaviour.objects.create(response=second, characters={"unaccounted": 7})
    Behaviour.objects.create(response=third, characters={"pasted": 0})
    SpotCheckFactory(response=first, is_random=True)
    judge(first, "GOOD")

    release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)

    release = Release.objects.get()
    assert release.context["writing"] == {
        "typed": 0.2667,
        "pasted": 0.0667,
        "inserted": 0.3333,
        "given": 0.0,
        "unknown": 0.3333,
        "ways": {
            "typed": 0.2,
            "completed": 0.0667,
            "pasted": 0.0667,
            "unaccounted": 0.3333,
            "unknown": 0.3333,
        },
    }
    [checked] = release.context["spot_checks"]
    assert (checked["language"], checked["checks"]) == ("en", 1)
    assert checked["low"] <= checked["share"] <= checked["high"]
    told = dict(collection_of(release))
    assert told["how the texts came, by characters"].startswith("20.0% typed, 6.7% completed")
    share = told["share of bad responses by spot checks, en"]
    assert "(95% interval 0.0% to" in share
    assert share.endswith(", 1 random check)")


def test_a_reason_is_no_text_of_which_nobody_knows_how_it_came(campaign):
    first, second, third = Response.objects.order_by("pk")
    for response in (first, second):
        Behaviour.objects.create(response=response, characters={"typed": 30})
    Response.objects.filter(pk=third.pk).update(cannot_describe="too dark")

    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON, partial=True)

    assert release.context["writing"]["ways"] == {"typed": 1.0}


def test_a_release_of_texts_without_counts_says_nothing_of_how_they_came(campaign):
    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)

    assert (release.context["writing"], release.context["spot_checks"]) == (None, [])
    assert not any("texts came" in name for name, _ in collection_of(release))


def test_a_release_from_before_it_was_recorded_says_nothing(campaign):
    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)
    del release.context["writing"], release.context["spot_checks"]

    assert list(quality_of(release)) == []
