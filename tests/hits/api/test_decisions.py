"""The API's decisions: held payments, rejections, appeals, gold items, messages, verdicts taken
back, and imports and selections by jobs."""

from io import BytesIO
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate.models import ClassRelation, Image, Selection
from background.models import JobStatus
from hits.models import WorkerMessage
from qualcontrol.models import Appeal, Gold, HeldCause, HeldPayment, SpotCheck
from tests.api import photograph, send
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    ClassFactory,
    ExclusionFactory,
    HitFactory,
    ImageFactory,
    ResponseFactory,
    SpotCheckFactory,
    WorkerAccountFactory,
)
from tests.jobs import run_jobs

pytestmark = pytest.mark.django_db
ONCE = {"Idempotency-Key": "once"}


@pytest.fixture
def campaign():
    return CampaignFactory(slug="pilot", budget="50.00")


@pytest.fixture
def submitted(campaign):
    """A submitted assignment whose payment is not decided."""
    account = WorkerAccountFactory()
    hit = HitFactory(hit_type__campaign=campaign, slots=1, available=0)
    return AssignmentFactory(hit=hit, account=account, status="SUBMITTED", submitted_at=NOON)


@pytest.fixture
def held(campaign, submitted):
    return HeldPayment.objects.create(
        campaign=campaign,
        worker=submitted.account.worker,
        submission=submitted.submission,
        cause=HeldCause.NO_TASK,
        why="It fits no task.",
        held_at=NOON,
    )


@pytest.mark.parametrize(("act", "outcome"), [("payment", "PAY"), ("rejection", "REJECT")])
def test_a_held_payment_is_decided_once(api, held, act, outcome):
    address = f"/api/campaigns/pilot/held-payments/{held.pk}/{act}/"
    waiting = api.get("/api/campaigns/pilot/held-payments/?open=true").json()["results"]

    decided = send(api, address, reason="Looked at by hand.")
    again = send(api, address, reason="Looked at by hand.")

    assert [row["id"] for row in waiting] == [held.pk]
    assert waiting[0]["worker"] == held.worker.pseudonym
    assert held.submission.assignment.account.marketplace_id not in str(waiting)
    assert (decided.status_code, decided.json()["outcome"]) == (200, outcome)
    assert again.status_code == 409
    assert api.get("/api/campaigns/pilot/held-payments/?open=true").json()["results"] == []


def test_the_assignment_of_a_discarded_response_is_rejected(api, campaign, submitted):
    response = ResponseFactory(
        task__campaign=campaign, worker=submitted.account.worker, assignment=submitted
    )
    address = f"/api/campaigns/pilot/responses/{response.pk}/rejection/"

    refused = send(api, address, reason="A list of keywords.")
    response.status, response.discarded_at = "DISCARDED", NOON
    response.save()
    done = send(api, address, reason="A list of keywords.")

    assert (refused.status_code, done.status_code) == (409, 202)
    assert campaign.decisions.get(act="REJECT").reason == "A list of keywords."


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


def test_a_message_is_stored_once(api, campaign, submitted):
    name = submitted.account.worker.pseudonym
    fields = {"workers": [name], "subject": "Thanks", "text": "A new batch is open."}
    address = "/api/campaigns/pilot/messages/"

    first = api.post(address, fields, content_type="application/json", headers=ONCE)
    again = api.post(address, fields, content_type="application/json", headers=ONCE)
    unknown = send(api, address, **{**fields, "workers": ["W-00000000"]})

    assert (first.status_code, first.json()["recipients"]) == (201, 1)
    assert again["Idempotent-Replayed"] == "true"
    assert unknown.status_code == 409
    assert WorkerMessage.objects.count() == 1


def test_a_verdict_is_taken_back_by_who_gave_it(api, campaign):
    check = SpotCheckFactory(response__task__campaign=campaign)
    address = f"/api/campaigns/pilot/spot-checks/{check.response.key}/verdict/"

    nothing = api.delete(address)
    send(api, address, verdict="GOOD")
    taken = api.delete(address)

    assert (nothing.status_code, taken.status_code) == (409, 204)
    assert not SpotCheck.objects.exclude(verdict="").exists()


def test_nocaps_selection_is_a_job(api):
    whole, part = ClassFactory(name="Car"), ClassFactory(name="Wheel")
    ClassRelation.objects.create(parent=whole, child=part, kind="PART")
    for number in range(4):
        ImageFactory(split="s", key=f"i{number}", rotation=0)

    answer = send(
        api, "/api/selections/", name="chosen", split="s", procedure="nocaps", count=9, sample=2
    )
    asked = send(
        api, "/api/selections/", name="chosen", split="s", procedure="nocaps", count=1, sample=2
    )
    assert asked.status_code == 202, asked.content
    (job,) = run_jobs()

    assert answer.status_code == 409
    assert (asked.status_code, asked.json()["id"]) == (202, str(job.key))
    # Images of one class are left out, so none can be drawn here; the job says so.
    assert job.status in {JobStatus.DONE, JobStatus.FAILED}
    assert Selection.objects.filter(name="chosen").exists() is (job.status == JobStatus.DONE)


@pytest.fixture
def uploads(settings, tmp_path):
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    settings.MEDIA_ROOT = tmp_path / "media"


def test_a_zip_file_is_imported_by_a_job(api, uploads):
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        archive.writestr("park/صورة.jpg", photograph().read())
    zipped = SimpleUploadedFile("photographs.zip", content.getvalue())

    answer = api.post("/api/imports/", {"kind": "own", "split": "mine", "photographs": zipped})
    (job,) = run_jobs()

    assert (answer.status_code, answer.json()["id"]) == (202, str(job.key))
    assert (job.status, job.error) == (JobStatus.DONE, "")
    assert Image.objects.get().split == "mine"


def test_a_coco_file_is_imported_by_a_job(api, uploads):
    content = b"""{"images": [{"id": 1, "file_name": "a.jpg", "width": 8, "height": 8}],
        "categories": [{"id": 1, "name": "dog"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 4, 4]}]}"""
    file = SimpleUploadedFile("instances.json", content)

    answer = api.post("/api/imports/", {"kind": "coco", "split": "val", "coco": file})
    (job,) = run_jobs()

    assert answer.status_code == 202
    assert (job.status, job.error) == (JobStatus.DONE, "")
    assert Image.objects.get().boxes.count() == 1


@pytest.mark.parametrize(
    "fields",
    [{}, {"kind": "floppy"}, {"kind": "coco", "split": "val"}, {"kind": "own", "split": "../x"}],
)
def test_an_import_without_what_it_needs_is_refused(api, uploads, fields):
    answer = api.post("/api/imports/", fields)

    assert answer.status_code == 400
    assert answer.json()["errors"]
