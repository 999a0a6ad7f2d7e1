"""The API's log of decisions, and appeals."""

import pytest

from qualcontrol.models import Act, Appeal, Decision
from tests.api import send
from tests.factories import (
    NOON,
    ExclusionFactory,
    ResponseFactory,
)

pytestmark = pytest.mark.django_db


def test_decisions_are_listed_and_filtered(api, campaign):
    ExclusionFactory(campaign=campaign)
    worker = ResponseFactory(task__campaign=campaign).worker
    Decision.objects.create(
        campaign=campaign, act=Act.PAUSE, worker=worker, reason="flags", at=NOON
    )

    (found,) = api.get("/api/campaigns/pilot/decisions/?act=PAUSE").json()["results"]

    assert (found["worker"], found["reason"], found["actor"]) == (worker.pseudonym, "flags", None)
    assert api.get("/api/campaigns/pilot/decisions/?act=DANCE").status_code == 400


def test_a_decision_about_a_response_is_about_its_worker(api, campaign):
    response = ResponseFactory(task__campaign=campaign)
    for each in (response, ResponseFactory(task__campaign=campaign)):
        Decision.objects.create(campaign=campaign, act=Act.DISCARD, response=each, at=NOON)
    name = response.worker.pseudonym

    (found,) = api.get(f"/api/campaigns/pilot/decisions/?worker={name}").json()["results"]

    assert (found["worker"], found["response"]) == (name, response.pk)


@pytest.mark.parametrize("granted", [True, False])
def test_an_appeal_is_recorded_and_answered(api, campaign, granted):
    response = ResponseFactory(task__campaign=campaign)
    ExclusionFactory(campaign=campaign, worker=response.worker)
    name = response.worker.pseudonym

    made = send(api, "/api/campaigns/pilot/appeals/", worker=name, text="I read each image.")
    address = f"/api/campaigns/pilot/appeals/{made.json()['id']}/answer/"
    answered = send(api, address, answer="We looked again.", granted=granted)
    again = send(api, address, answer="We looked again.", granted=granted)

    assert (made.status_code, made.json()["worker"]) == (201, name)
    assert (answered.status_code, answered.json()["is_granted"]) == (200, granted)
    assert again.status_code == 409
    assert campaign.exclusions.in_force().exists() is not granted
    assert api.get("/api/campaigns/pilot/appeals/?open=true").json()["results"] == []


def test_an_appeal_of_a_worker_who_is_not_excluded_is_refused(api, campaign):
    worker = ResponseFactory(task__campaign=campaign).worker

    answer = send(
        api, "/api/campaigns/pilot/appeals/", worker=worker.pseudonym, text="Why was I paused?"
    )

    assert answer.status_code == 409
    assert not Appeal.objects.exists()
