"""The API's tasks and responses."""

import pytest

from qualcontrol.models import Assessment
from tests.factories import (
    NOON,
    CampaignFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    WorkerAccountFactory,
)

pytestmark = pytest.mark.django_db


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


def test_tasks_are_listed_by_number(api, campaign):
    TaskFactory(campaign=campaign, number=2, answers_missing=0)
    TaskFactory(campaign=campaign, number=1)
    TaskFactory()

    found = api.get("/api/campaigns/pilot/tasks/").json()["results"]
    unfinished = api.get("/api/campaigns/pilot/tasks/?unfinished=true").json()["results"]

    assert [row["number"] for row in found] == [1, 2]
    assert [row["number"] for row in unfinished] == [1]


def test_responses_are_filtered_by_worker_flag_and_verdict(api, campaign):
    first = ResponseFactory(task__campaign=campaign)
    SpotCheckFactory(response=first, verdict="BAD", reason="vague", judged_at=NOON)
    other = ResponseFactory(task__campaign=campaign)
    Assessment.objects.create(
        response=first, campaign=campaign, worker=first.worker, position=1, codes="brief hasty"
    )

    def ids(**filters):
        rows = api.get("/api/campaigns/pilot/responses/", filters).json()["results"]
        return [row["id"] for row in rows]

    assert ids(worker=other.worker.pseudonym) == [other.pk]
    assert ids(flag="hasty") == [first.pk]
    assert ids(flag="any") == [first.pk]
    assert ids(flag="copies_own") == []
    unknown = api.get("/api/campaigns/pilot/responses/", {"flag": "short_time"})
    assert (unknown.status_code, "no flag 'short_time'" in unknown.json()["detail"]) == (400, True)
    assert ids(verdict="BAD") == [first.pk]


def test_a_response_without_a_spot_check_has_no_verdict_and_the_schema_says_so(api, campaign):
    ResponseFactory(task__campaign=campaign)

    (found,) = api.get("/api/campaigns/pilot/responses/").json()["results"]
    schema = api.get("/api/schema/?format=json").json()["components"]["schemas"]["Response"]

    for name in ("verdict", "reason"):
        assert found[name] is None
        assert schema["properties"][name]["nullable"]
