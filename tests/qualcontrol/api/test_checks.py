"""The API's spot checks and gold items."""

import pytest

from qualcontrol.models import Gold, Judgement, SpotCheck
from tests.api import send
from tests.factories import (
    BoxFactory,
    CampaignFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
)

pytestmark = pytest.mark.django_db
CHECKED = {"references": 1, "baselines": 1, "review": {"share": 1, "first": 0}}


def test_an_item_is_reserved_and_judged(api):
    campaign = CampaignFactory(slug="pilot", config=CHECKED)
    check = SpotCheckFactory(response__task__campaign=campaign, is_random=True)

    (item,) = send(api, "/api/campaigns/pilot/spot-checks/next/", count=5).json()
    answer = send(
        api,
        f"/api/campaigns/pilot/spot-checks/{item['key']}/verdict/",
        verdict="BAD",
        reason="vague",
    )

    assert item["answer"] == check.response.caption.text
    assert answer.status_code == 201
    check.refresh_from_db()
    assert (check.verdict, check.reason) == ("BAD", "vague")
    (found,) = api.get("/api/campaigns/pilot/spot-checks/?open=false").json()["results"]
    assert (found["response"], found["verdict"]) == (check.response_id, "BAD")
    assert api.get("/api/campaigns/pilot/spot-checks/?open=true").json()["results"] == []


def test_the_keywords_of_an_item_are_those_of_its_task(api):
    """In the language of the page, and as they were when the campaign was created."""
    campaign = CampaignFactory(slug="pilot", config=CHECKED)
    task = TaskFactory(campaign=campaign, payload={"keywords": ["Hund"]})
    BoxFactory(image=task.image, object_class__name="Dog")
    SpotCheckFactory(response__task=task, is_random=True)

    (item,) = send(api, "/api/campaigns/pilot/spot-checks/next/", count=1).json()

    assert item["keywords"] == ["Hund"]


def test_a_check_of_a_discarded_response_is_not_open_in_the_list(api):
    """Or a program that waits for the last verdict would wait for ever after an exclusion."""
    campaign = CampaignFactory(slug="pilot")
    check = SpotCheckFactory(response__task__campaign=campaign, response__status="DISCARDED")
    address = "/api/campaigns/pilot/spot-checks/"

    assert api.get(f"{address}?open=true").json()["results"] == []
    (found,) = api.get(f"{address}?open=false").json()["results"]
    assert found["response"] == check.response_id


def test_a_second_verdict_of_one_reviewer_is_refused(api):
    campaign = CampaignFactory(slug="pilot", config=CHECKED)
    check = SpotCheckFactory(response__task__campaign=campaign)
    address = f"/api/campaigns/pilot/spot-checks/{check.response.key}/verdict/"
    send(api, address, verdict="GOOD")

    answer = send(api, address, verdict="BAD", reason="vague")

    assert (answer.status_code, answer.json()["code"]) == (409, "already_judged")
    assert Judgement.objects.count() == 1


def test_a_bad_verdict_needs_a_reason(api, campaign):
    check = SpotCheckFactory(response__task__campaign=campaign)

    answer = send(
        api, f"/api/campaigns/pilot/spot-checks/{check.response.key}/verdict/", verdict="BAD"
    )

    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["reason"])


def test_a_response_of_another_campaign_cannot_be_judged(api, campaign):
    check = SpotCheckFactory()

    answer = send(
        api, f"/api/campaigns/pilot/spot-checks/{check.response.key}/verdict/", verdict="GOOD"
    )

    assert answer.status_code == 404


def test_gold_items_are_responses_or_made_up(api, campaign):
    response = ResponseFactory(task__campaign=campaign)
    image = response.task.image.key
    address = "/api/campaigns/pilot/gold/"

    marked = send(api, address, response=response.pk, verdict="GOOD")
    made_up = send(api, address, image=image, text="A blue horse sings.", reason="Nothing of it.")
    neither = send(api, address, reason="Nothing.")
    both = [
        send(api, address, response=response.pk, verdict="GOOD", **more)
        for more in ({"image": image}, {"text": "A horse."})
    ]
    elsewhere = send(api, address, image="unknown", text="A horse.", reason="Nothing of it.")

    assert (marked.status_code, marked.json()["response"]) == (201, response.pk)
    assert (made_up.status_code, made_up.json()["verdict"]) == (201, "BAD")
    assert (neither.status_code, elsewhere.status_code) == (400, 400)
    assert [answer.status_code for answer in both] == [400, 400]
    assert len(api.get(address).json()["results"]) == Gold.objects.count() == 2


def test_a_verdict_is_taken_back_by_who_gave_it(api, campaign):
    check = SpotCheckFactory(response__task__campaign=campaign)
    address = f"/api/campaigns/pilot/spot-checks/{check.response.key}/verdict/"

    nothing = api.delete(address)
    send(api, address, verdict="GOOD")
    taken = api.delete(address)

    assert (nothing.status_code, taken.status_code) == (409, 204)
    assert not SpotCheck.objects.exclude(verdict="").exists()
