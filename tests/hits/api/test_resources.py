"""The API's resources: images, selections, tasks, checks, workers, bonuses, jobs and releases."""

from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate.exports.records import context_of
from annotate.models import Image, Release, Selection
from background.jobs.runner import run_next
from background.models import Job, JobStatus
from hits.models import Bonus
from hits.services.bonuses import Wish, plan_bonuses
from qualcontrol.models import Act, Assessment, Decision, Exclusion, Judgement
from tests.api import photograph, send
from tests.factories import (
    NOON,
    AssignmentFactory,
    BoxFactory,
    CampaignFactory,
    ExclusionFactory,
    HitFactory,
    ImageFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    WorkerAccountFactory,
)

pytestmark = pytest.mark.django_db
CHECKED = {"references": 1, "baselines": 1, "review": {"share": 1, "first": 0}}


@pytest.fixture
def campaign():
    return CampaignFactory(slug="pilot", budget="50.00")


@pytest.fixture
def assignment(campaign):
    """An approved assignment of a worker with one response."""
    account = WorkerAccountFactory()
    ResponseFactory(task__campaign=campaign, worker=account.worker)
    hit = HitFactory(hit_type__campaign=campaign, slots=1, available=0)
    return AssignmentFactory(
        hit=hit, account=account, status="APPROVED", submitted_at=NOON, decided_at=NOON
    )


def test_files_are_uploaded_under_their_own_names(api):
    answer = api.post(
        "/api/images/",
        {"split": "mine", "file": [photograph("صورة.jpg"), photograph("🐕.jpg", "blue")]},
    )

    assert answer.status_code == 201
    assert (answer.json()["new"], answer.json()["left_out"]) == (2, [])
    names = [row["name"] for row in api.get("/api/images/?split=mine").json()["results"]]
    assert names == ["صورة.jpg", "🐕.jpg"]


def test_an_upload_can_be_repeated(api):
    api.post("/api/images/", {"split": "mine", "file": photograph()})

    again = api.post("/api/images/", {"split": "mine", "file": photograph()}).json()

    assert (again["new"], again["unchanged"]) == (0, 1)
    assert Image.objects.count() == 1


def test_files_that_cannot_be_used_are_named(api):
    broken = SimpleUploadedFile("notes.jpg", b"#!/bin/sh", "image/jpeg")

    answer = api.post("/api/images/", {"split": "mine", "file": [photograph(), broken]})

    assert answer.json()["new"] == 1
    assert [one["name"] for one in answer.json()["left_out"]] == ["notes.jpg"]


def test_an_upload_without_a_usable_file_is_refused(api):
    broken = SimpleUploadedFile("notes.jpg", b"#!/bin/sh", "image/jpeg")

    answer = api.post("/api/images/", {"split": "mine", "file": broken})

    assert answer.status_code == 400
    assert "notes.jpg" in answer.json()["errors"]["file"][0]


@pytest.mark.parametrize(
    "fields", [{}, {"split": "mine"}, {"split": "a b", "file": "x"}, {"file": "x"}]
)
def test_a_wrong_upload_names_the_field(api, fields):
    answer = api.post("/api/images/", fields)

    assert answer.status_code == 400
    assert answer.json()["errors"]


def test_a_table_describes_uploaded_files(api):
    table = SimpleUploadedFile("facts.csv", b"file_name,author\npark.jpg,Ada\n", "text/csv")

    answer = api.post("/api/images/", {"split": "mine", "file": photograph(), "table": table})

    assert answer.json()["described"] == 1
    assert Image.objects.get().author == "Ada"


def test_a_malformed_table_imports_nothing(api):
    table = SimpleUploadedFile("facts.csv", b"\xff\xfe\x00", "text/csv")

    answer = api.post("/api/images/", {"split": "mine", "file": photograph(), "table": table})

    assert answer.status_code == 400
    assert not Image.objects.exists()


def test_images_are_filtered(api):
    box = BoxFactory(object_class__name="Dog", image__split="a", image__key="first")
    for edge in (0.05, 0.15):
        BoxFactory(image=box.image, object_class=box.object_class, x_min=edge)
    ImageFactory(split="b")

    found = api.get("/api/images/?object_class=Dog").json()["results"]

    assert [(row["key"], row["boxes"]) for row in found] == [("first", 3)]
    assert len(api.get("/api/images/?split=b").json()["results"]) == 1


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"split": "s"}, 3),
        ({"split": "s", "procedure": "random", "count": 2}, 2),
        ({"procedure": "picked", "images": ["b", "a"]}, 2),
        ({"procedure": "listed", "split": "s", "images": ["b.jpg", "a"]}, 2),
    ],
)
def test_images_are_selected(api, fields, count):
    for key in "abc":
        ImageFactory(split="s", key=key)

    answer = send(api, "/api/selections/", name="chosen", **fields)

    assert (answer.status_code, answer.json()["images"]) == (201, count)
    found = api.get("/api/selections/chosen/").json()
    assert (found["split"], found["images"]) == ("s", count)
    assert len(api.get("/api/selections/chosen/images/").json()["results"]) == count


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"name": "chosen"}, 400),
        ({"name": "chosen", "split": "s", "procedure": "random"}, 400),
        ({"name": "chosen", "procedure": "picked", "images": ["unknown"]}, 400),
        ({"name": "chosen", "procedure": "picked", "images": ["twice"]}, 400),
        ({"name": "chosen", "procedure": "listed", "images": ["twice"]}, 400),
        ({"name": "chosen", "procedure": "listed", "split": "s", "images": ["x", "twice"]}, 400),
        ({"name": "chosen", "procedure": "magic", "split": "s"}, 400),
        ({"name": "a b", "split": "s"}, 400),
        ({"name": "chosen", "split": "empty"}, 409),
        ({"name": "chosen", "split": "s", "procedure": "nocaps", "count": 9}, 409),
    ],
)
def test_a_selection_that_is_not_possible_is_refused(api, fields, status):
    ImageFactory(split="s", key="twice")
    ImageFactory(split="t", key="twice", source="COCO")

    assert send(api, "/api/selections/", **fields).status_code == status
    assert not Selection.objects.exists()


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


def test_a_worker_has_verdicts_risk_and_pay(api, campaign, assignment):
    worker = assignment.account.worker
    Bonus.objects.create(
        assignment=assignment,
        token="t",
        amount="0.50",
        fee="0.10",
        reason="thanks",
        planned_at=NOON,
        sent_at=NOON,
    )

    (found,) = api.get("/api/campaigns/pilot/workers/").json()["results"]
    one = api.get(f"/api/campaigns/pilot/workers/{worker.pseudonym}/").json()

    assert found["pseudonym"] == worker.pseudonym
    assert found["pay"] == {"rewards": "0.10", "bonuses": "0.50", "assignments": 1}
    assert {**found, "reasons": []} == one


def test_a_worker_is_excluded_and_reinstated(api, campaign, assignment):
    address = f"/api/campaigns/pilot/workers/{assignment.account.worker.pseudonym}/"

    preview = api.get(f"{address}exclusion/").json()
    excluded = send(api, f"{address}exclusion/", reason="copies")
    state = api.get(address).json()["state"]
    reinstated = send(api, f"{address}reinstatement/", reason="a mistake")

    assert (preview["responses"], preview["cost"]) == (1, "0.12")
    assert (excluded.json(), state) == ({"discarded": 1}, "excluded")
    assert reinstated.json() == {"restored": 1}
    assert not Exclusion.objects.in_force().exists()
    assert Decision.objects.filter(act=Act.EXCLUDE, actor__isnull=False).count() == 1


def test_an_exclusion_needs_a_reason_and_happens_once(api, campaign, assignment):
    address = f"/api/campaigns/pilot/workers/{assignment.account.worker.pseudonym}/exclusion/"
    refused = send(api, address, reason="")
    send(api, address, reason="copies")

    assert refused.status_code == 400
    assert send(api, address, reason="copies").json()["code"] == "already_excluded"


def test_a_worker_is_paused_and_resumed(api, campaign, assignment):
    address = f"/api/campaigns/pilot/workers/{assignment.account.worker.pseudonym}/"

    assert send(api, f"{address}pause/", reason="many flags").json()["state"] == "paused"
    assert send(api, f"{address}resume/", reason="explained").json()["state"] == "active"
    assert send(api, f"{address}dismissal/", reason="fine").json()["code"] == "nothing_proposed"


def test_a_worker_of_another_campaign_is_not_found(api, campaign):
    stranger = ResponseFactory().worker

    assert api.get(f"/api/campaigns/pilot/workers/{stranger.pseudonym}/").status_code == 404


def test_a_bonus_is_planned_once_for_each_key(api, campaign, assignment):
    fields = {
        "worker": assignment.account.worker.pseudonym,
        "amount": "0.50",
        "reason": "Thank you for your careful captions.",
    }

    answers = [
        api.post(
            "/api/campaigns/pilot/bonuses/",
            fields,
            content_type="application/json",
            headers={"Idempotency-Key": "one"},
        )
        for _ in range(2)
    ]

    assert [answer.status_code for answer in answers] == [201, 201]
    assert Bonus.objects.get().pk == answers[1].json()["id"]
    (found,) = api.get("/api/campaigns/pilot/bonuses/").json()["results"]
    assert (found["amount"], found["worker"], found["sent_at"]) == (
        "0.50",
        fields["worker"],
        None,
    )


def test_a_bonus_equal_to_one_of_a_file_is_refused(api, campaign, assignment):
    worker = assignment.account.worker.pseudonym
    wish = Wish(worker, Decimal("0.50"), "Thanks.")
    plan_bonuses(campaign=campaign, wishes=[wish], key="file", at=NOON)

    answer = send(
        api, "/api/campaigns/pilot/bonuses/", worker=worker, amount="0.50", reason="Thanks."
    )

    assert answer.status_code == 409
    assert "give another reason" in answer.json()["detail"]
    assert Bonus.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"amount": "0"}, 400),
        ({"amount": "0.001"}, 400),
        ({"amount": "-1"}, 400),
        ({"reason": " "}, 400),
        ({"amount": "49.99"}, 409),
        ({"worker": "W-00000000"}, 404),
    ],
)
def test_a_bonus_that_is_not_possible_is_refused(api, campaign, assignment, fields, status):
    worker = assignment.account.worker.pseudonym
    whole = {"worker": worker, "amount": "0.50", "reason": "Thanks.", **fields}

    assert send(api, "/api/campaigns/pilot/bonuses/", **whole).status_code == status
    assert not Bonus.objects.exists()


def test_a_worker_without_an_assignment_gets_no_bonus(api, campaign):
    worker = ResponseFactory(task__campaign=campaign).worker.pseudonym

    answer = send(
        api, "/api/campaigns/pilot/bonuses/", worker=worker, amount="0.50", reason="Thanks."
    )

    assert answer.json()["code"] == "bonus_not_possible"


def test_decisions_are_listed_and_filtered(api, campaign):
    ExclusionFactory(campaign=campaign)
    worker = ResponseFactory(task__campaign=campaign).worker
    Decision.objects.create(
        campaign=campaign, act=Act.PAUSE, worker=worker, reason="flags", at=NOON
    )

    (found,) = api.get("/api/campaigns/pilot/decisions/?act=PAUSE").json()["results"]

    assert (found["worker"], found["reason"], found["actor"]) == (worker.pseudonym, "flags", None)
    assert api.get("/api/campaigns/pilot/decisions/?act=DANCE").status_code == 400


@pytest.fixture
def complete():
    """A complete campaign of one image with one reference and a baseline."""
    campaign = CampaignFactory(slug="pilot", config={"references": 1, "review": {"share": 0}})
    task = TaskFactory(campaign=campaign)
    for _ in range(task.wanted):
        ResponseFactory(task=task)
    return campaign


@pytest.mark.django_db(transaction=True)
def test_a_release_is_made_by_a_job(api, complete):
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


def test_a_release_name_is_used_once(api, complete):
    Release.objects.create(
        campaign=complete, name="v1", seed=1, created_at=NOON, context=context_of(complete)
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
def test_a_wrong_release_is_refused(api, complete, fields):
    assert send(api, "/api/campaigns/pilot/releases/", **fields).status_code == 400


def test_a_job_is_cancelled_and_repeated(api, complete):
    key = send(api, "/api/campaigns/pilot/releases/", name="v1").json()["id"]

    cancelled = api.post(f"/api/jobs/{key}/cancel/")
    twice = api.post(f"/api/jobs/{key}/cancel/")
    again = api.post(f"/api/jobs/{key}/again/")

    assert cancelled.json()["status"] == "CANCELLED"
    assert twice.status_code == 409
    assert (again.status_code, again.json()["status"]) == (202, "WAITING")
    statuses = [row["status"] for row in api.get("/api/jobs/").json()["results"]]
    assert statuses == [JobStatus.WAITING, JobStatus.CANCELLED]


def test_jobs_are_filtered(api, complete):
    send(api, "/api/campaigns/pilot/releases/", name="v1")

    assert len(api.get("/api/jobs/?status=WAITING&campaign=pilot").json()["results"]) == 1
    assert api.get("/api/jobs/?kind=report").json()["results"] == []


def test_a_webhook_is_added_changed_tested_and_removed(api, campaign):
    address = "/api/campaigns/pilot/webhooks/"

    added = send(api, address, url="https://hooks.example/a", kinds=["job-failed"])
    one = f"{address}{added.json()['id']}/"
    changed = api.put(
        one, {"url": "https://hooks.example/b", "is_on": False}, content_type="application/json"
    )
    tested = api.post(f"{one}test/")
    removed = api.delete(one)

    assert (added.status_code, added.json()["kinds"]) == (201, ["job-failed"])
    assert (changed.json()["url"], changed.json()["is_on"]) == ("https://hooks.example/b", False)
    assert len(changed.json()["kinds"]) > 1
    assert (tested.status_code, removed.status_code) == (202, 204)
    assert api.get(one).status_code == 404
    assert api.get(address).json()["results"] == []


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, 400),
        ({"url": "https://hooks.example/a", "kinds": []}, 400),
        ({"url": "https://hooks.example/a", "kinds": ["weather"]}, 409),
        ({"url": "http://127.0.0.1/a"}, 409),
        ({"url": "no address"}, 409),
    ],
)
def test_a_wrong_webhook_is_refused(api, campaign, fields, status):
    assert send(api, "/api/campaigns/pilot/webhooks/", **fields).status_code == status
    assert not campaign.webhooks.exists()
