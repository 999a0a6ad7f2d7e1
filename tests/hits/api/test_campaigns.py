"""The API: campaigns and responses, authentication, and the schema."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    UserFactory,
    WorkerAccountFactory,
)
from tests.threads import at_once

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
    with django_assert_num_queries(9):
        api.get("/api/campaigns/")
    CampaignFactory.create_batch(3, tasks=2)

    with django_assert_num_queries(9):
        answer = api.get("/api/campaigns/")

    assert answer.json()["count"] == 4


def test_responses_name_workers_by_pseudonym_alone(api):
    campaign = CampaignFactory(slug="pilot")
    response = ResponseFactory(task__campaign=campaign, text="A dog sleeps on a red sofa at noon.")
    account = WorkerAccountFactory(worker=response.worker)
    SpotCheckFactory(response=response, verdict="BAD", reason="vague", judged_at=NOON)
    ResponseFactory()

    answer = api.get("/api/campaigns/pilot/responses/")

    (found,) = answer.json()["results"]
    assert found["worker"] == response.worker.pseudonym
    assert found["answer"] == "A dog sleeps on a red sofa at noon."
    assert (found["image"], found["verdict"], found["reason"]) == (
        response.task.image.key,
        "BAD",
        "vague",
    )
    assert account.marketplace_id not in answer.content.decode()


def test_responses_are_filtered_by_state(api):
    campaign = CampaignFactory(slug="pilot")
    ResponseFactory(task__campaign=campaign)
    discarded = ResponseFactory(task__campaign=campaign, status="DISCARDED")

    found = api.get("/api/campaigns/pilot/responses/", {"status": "DISCARDED"}).json()

    assert [row["id"] for row in found["results"]] == [discarded.pk]


def test_an_unknown_state_is_an_error_that_names_those_there_are(api):
    CampaignFactory(slug="pilot")

    answer = api.get("/api/campaigns/pilot/responses/", {"status": "LOST"})

    assert answer.status_code == 400
    assert "SUBMITTED or DISCARDED" in answer.json()["errors"]["status"][0]


def test_responses_are_paged_by_cursor_without_gap_or_repeat(api, monkeypatch):
    monkeypatch.setattr("hits.api.responses.ResponsePages.page_size", 2)
    campaign = CampaignFactory(slug="pilot")
    made = [ResponseFactory(task__campaign=campaign).pk for _ in range(5)]

    seen, address = [], "/api/campaigns/pilot/responses/"
    while address:
        page = api.get(address).json()
        seen += [row["id"] for row in page["results"]]
        address = page["next"]

    assert seen == made


def test_more_responses_take_no_more_queries(api, django_assert_num_queries):
    campaign = CampaignFactory(slug="pilot")
    for _ in range(6):
        SpotCheckFactory(response__task__campaign=campaign)
        ResponseFactory(task__campaign=campaign)

    with django_assert_num_queries(5):
        answer = api.get("/api/campaigns/pilot/responses/")

    assert len(answer.json()["results"]) == 12


@pytest.mark.parametrize(
    "address",
    [
        "/api/",
        "/api/campaigns/",
        "/api/campaigns/pilot/",
        "/api/campaigns/pilot/responses/",
        "/api/releases/",
        "/api/releases/v1/",
        "/api/releases/v1/captions.json",
    ],
)
def test_nobody_reads_the_api_without_signing_in(client, address):
    CampaignFactory(slug="pilot")

    assert client.get(address).status_code == 401


def test_a_session_reads_the_api_too(client):
    client.force_login(UserFactory())

    assert client.get("/api/campaigns/").status_code == 200


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_the_api_changes_nothing(api, method):
    CampaignFactory(slug="pilot")

    assert getattr(api, method)("/api/campaigns/pilot/").status_code == 405


def test_the_schema_is_made_without_a_warning_and_names_every_address(tmp_path):
    file = tmp_path / "schema.json"
    errors = StringIO()

    call_command(
        "spectacular",
        file=str(file),
        format="openapi-json",
        validate=True,
        fail_on_warn=True,
        stderr=errors,
    )

    paths = json.loads(file.read_text())["paths"]
    assert {
        "/api/campaigns/",
        "/api/campaigns/{slug}/",
        "/api/campaigns/{slug}/responses/",
        "/api/releases/",
        "/api/releases/{name}/",
        "/api/releases/{name}/{file}",
        "/api/token/",
    } <= set(paths)
    assert reverse("api-schema") == "/api/schema/"


def undescribed(schema, place):
    """The properties of the schema that have no description, those inside others too."""
    for name, value in schema.get("properties", {}).items():
        if not value.get("description"):
            yield f"{place}.{name}"
        yield from undescribed(value, f"{place}.{name}")
    for part in ("items", "additionalProperties"):
        if isinstance(schema.get(part), dict):
            yield from undescribed(schema[part], f"{place}[]")


def test_everything_in_the_schema_is_described(client):
    schema = client.get("/api/schema/?format=json").json()
    missing, tags = [], set()

    for name, component in schema["components"]["schemas"].items():
        missing += undescribed(component, name)
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            place = f"{method} {path}"
            tags |= {*operation["tags"]}
            missing += [] if operation.get("description", ".") != "." else [place]
            for each in operation.get("parameters", []):
                missing += [] if each.get("description") else [f"{place}: {each['name']}"]
            for each in operation.get("requestBody", {}).get("content", {}).values():
                missing += undescribed(each["schema"], place)

    assert missing == []
    assert {tag["name"] for tag in schema["tags"] if tag["description"]} == tags
    assert [each["url"] for each in schema["servers"]] == ["/"]
    assert '"default"' not in json.dumps(schema)


@pytest.mark.django_db(transaction=True)
def test_several_readers_get_the_schema_at_once():
    user = UserFactory()

    def read(_):
        client = Client()
        client.force_login(user)
        return client.get("/api/schema/").status_code

    assert at_once(read, range(8)) == 8 * [200]
