"""The API's campaigns."""

from uuid import uuid4

import pytest

from annotate.models import Campaign
from background.jobs.requests import cancel_job
from background.models import Job
from hits.services.lifecycle import MOST_BUDGET
from hits.services.syncs import ask_for_sync
from tests.api import problem_of, send
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
)

pytestmark = pytest.mark.django_db


def test_campaigns_have_their_progress_and_their_money(api):
    campaign = CampaignFactory(slug="pilot", budget="5.00", config={"references": 2})
    task = TaskFactory(campaign=campaign)
    ResponseFactory(task=task)
    hit = HitFactory(hit_type__campaign=campaign, slots=3, available=2)
    AssignmentFactory(hit=hit, status="APPROVED", submitted_at=NOON, decided_at=NOON)

    (found,) = api.get("/api/campaigns/").json()["results"]

    assert found["slug"] == "pilot"
    assert found["progress"] == {"tasks": 1, "wanted": 3, "answered": 1}
    assert found["spend"] == {
        "budget": "5.00",
        "committed": "0.36",
        "paid": "0.12",
        "owed": "0.00",
        "open": "0.24",
        "bonuses": "0.00",
        "left": "4.64",
    }


def test_the_hit_type_of_a_campaign_is_that_of_its_present_reward(api):
    campaign = CampaignFactory(slug="pilot")
    reward = campaign.config.hit.reward
    HitTypeFactory(campaign=campaign, hit_type_id="FIRST", reward=reward)
    HitTypeFactory(campaign=campaign, hit_type_id="SECOND", reward=reward + 1)

    assert api.get("/api/campaigns/pilot/").json()["hit_type"] == "FIRST"


def test_a_campaign_in_full_has_its_pay_and_its_file(api):
    campaign = CampaignFactory(slug="pilot", tasks=2, config={"references": 2})
    ResponseFactory(task=campaign.tasks.first(), seconds=40)

    found = api.get("/api/campaigns/pilot/").json()

    assert found["progress"] == {
        "tasks": 2,
        "complete": 0,
        "wanted": 6,
        "submitted": 1,
        "at_work": 0,
        "discarded": 0,
    }
    assert found["pay"] == {"median_seconds": 40.0, "per_hour": "9.00"}
    assert found["config"]["references"] == 2


def test_more_campaigns_take_no_more_queries(api, django_assert_num_queries):
    CampaignFactory(tasks=1)
    with django_assert_num_queries(7):
        api.get("/api/campaigns/")
    CampaignFactory.create_batch(3, tasks=2)

    with django_assert_num_queries(7):
        answer = api.get("/api/campaigns/")

    assert answer.json()["count"] == 4


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_the_api_changes_nothing(api, method):
    CampaignFactory(slug="pilot")

    assert getattr(api, method)("/api/campaigns/pilot/").status_code == 405


def test_a_campaign_is_created_from_the_files_keys(api):
    SelectionFactory(name="scenes", images=2)
    file = {"name": "pilot", "selection": "scenes", "budget": "20.00", "references": 2}

    answer = api.post("/api/campaigns/", file, content_type="application/json")

    assert answer.status_code == 201
    assert (answer.json()["slug"], answer.json()["status"]) == ("pilot", "DRAFT")
    assert Campaign.objects.get().tasks.count() == 2


def test_a_wrong_campaign_file_has_an_error_for_each_key(api):
    file = {"name": "Pilot!", "selection": "scenes", "budget": "20.00", "hit": {"reward": -1}}

    answer = api.post("/api/campaigns/", file, content_type="application/json")

    assert {"name", "hit.reward"} <= set(problem_of(answer, 400)["errors"])


def test_a_campaign_file_that_fits_no_selection_is_refused(api):
    file = {"name": "pilot", "selection": "scenes", "budget": "20.00"}

    answer = api.post("/api/campaigns/", file, content_type="application/json")

    assert "scenes" in problem_of(answer, 409)["detail"]


def test_the_highest_reward_has_an_estimate_and_a_pay_per_hour(api):
    config = {"references": 200, "hit": {"reward": "99999999.99"}}
    campaign = CampaignFactory(slug="pilot", config=config, tasks=1)
    ResponseFactory(task=campaign.tasks.get(), seconds=1)

    estimate = api.get("/api/campaigns/pilot/estimate/")
    shown = api.get("/api/campaigns/pilot/")

    assert estimate.json()["rewards"] == "19999999998.00"
    assert shown.json()["pay"]["per_hour"] == "359999999964.00"


@pytest.mark.parametrize("act", ["pause", "finish"])
def test_a_campaign_that_moves_is_no_error_if_its_sync_is_refused(api, act):
    campaign = CampaignFactory(slug="pilot")
    running = ask_for_sync(campaign=campaign, user=None, at=NOON)
    Job.objects.filter(pk=running.pk).update(status="RUNNING", run=uuid4(), started_at=NOON)
    cancel_job(job=running, user=None, at=NOON)

    answer = api.post(f"/api/campaigns/pilot/{act}/")

    assert answer.status_code == 200
    assert answer.json()["status"] == {"pause": "PAUSED", "finish": "FINISHED"}[act]


def test_a_budget_beyond_the_most_is_refused_by_its_own_code(api, campaign):
    answer = send(api, "/api/campaigns/pilot/budget/", amount=str(MOST_BUDGET))

    assert (answer.status_code, answer.json()["code"]) == (409, "bad_amount")
