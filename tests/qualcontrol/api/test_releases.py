"""The API's releases of a campaign."""

import pytest

from annotate.exports.records import context_of
from annotate.models import Release
from background.jobs.runner import run_next
from background.models import Job
from tests.api import send
from tests.factories import (
    NOON,
    SpotCheckFactory,
    TaskFactory,
)

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
def test_a_release_is_made_by_a_job(api, complete_campaign):
    asked = send(api, "/api/campaigns/pilot/releases/", name="v1")
    run_next()

    job = api.get(f"/api/jobs/{asked.json()['id']}/").json()
    assert (asked.status_code, asked.json()["status"]) == (202, "WAITING")
    assert (job["status"], job["campaign"]) == ("DONE", "pilot")
    assert job["log"] is not None
    (release,) = api.get("/api/campaigns/pilot/releases/").json()["results"]
    assert (release["name"], release["images"]) == ("v1", 1)
    assert api.get("/api/releases/v1/captions.json").status_code == 200


def test_a_release_of_an_unfinished_campaign_is_refused_with_each_reason(api, campaign):
    TaskFactory(campaign=campaign)
    SpotCheckFactory.create_batch(2, response__task__campaign=campaign)

    answer = send(api, "/api/campaigns/pilot/releases/", name="v1")

    assert answer.json()["code"] == "release_refused"
    assert "has 1 of 11 captions; 2 required checks" in answer.json()["detail"]
    assert not Job.objects.exists()


def test_a_release_name_is_used_once(api, complete_campaign):
    Release.objects.create(
        campaign=complete_campaign,
        name="v1",
        seed=1,
        created_at=NOON,
        context=context_of(complete_campaign),
    )

    assert send(api, "/api/campaigns/pilot/releases/", name="v1").status_code == 409


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "a b"},
        {},
        {"name": "v1", "seed": 2**63},
        {"name": "v1", "domains": "mine"},
        {"name": "v1", "hidden_share": 2},
        {"name": "v1", "hidden_share": 0},
        {"name": "v1", "hidden_share": 0.5, "hidden_splits": ["a"]},
    ],
)
def test_a_wrong_release_is_refused(api, complete_campaign, fields):
    assert send(api, "/api/campaigns/pilot/releases/", **fields).status_code == 400
