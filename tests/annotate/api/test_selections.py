"""The API's selections."""

import pytest

from annotate.models import ClassRelation, Selection
from background.models import JobStatus
from tests.api import send
from tests.factories import (
    BoxFactory,
    ClassFactory,
    ImageFactory,
)
from tests.jobs import run_jobs

pytestmark = pytest.mark.django_db


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


def test_images_of_a_selection_are_in_its_order(api):
    images = {key: ImageFactory(split="s", key=key) for key in "abc"}
    BoxFactory.create_batch(2, image=images["a"])
    send(api, "/api/selections/", name="others", procedure="picked", images=["a", "b", "c"])
    send(api, "/api/selections/", name="chosen", procedure="picked", images=["c", "a", "b"])

    page, listed = "/api/selections/chosen/images/?limit=1", []
    while page:
        answer = api.get(page).json()
        page = answer["next"]
        listed += [(image["key"], image["boxes"]) for image in answer["results"]]

    assert listed == [("c", 0), ("a", 2), ("b", 0)]


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
