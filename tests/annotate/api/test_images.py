"""The API's images: uploads and imports."""

from io import BytesIO
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate.models import Image
from background.models import JobStatus
from tests.api import photograph
from tests.factories import (
    BoxFactory,
    ImageFactory,
)
from tests.jobs import run_jobs

pytestmark = pytest.mark.django_db


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


def test_a_split_has_any_name_that_a_folder_can_have(api):
    answer = api.post("/api/images/", {"split": "2026.11-mine", "file": photograph()})

    assert answer.status_code == 201
    assert Image.objects.get().split == "2026.11-mine"


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


def test_an_upload_whose_table_alone_is_used_says_so(api):
    api.post("/api/images/", {"split": "mine", "file": photograph()})
    broken = SimpleUploadedFile("notes.jpg", b"#!/bin/sh", "image/jpeg")
    table = SimpleUploadedFile("facts.csv", b"file_name,author\npark.jpg,Ada\n", "text/csv")

    answer = api.post("/api/images/", {"split": "mine", "file": broken, "table": table})

    assert (answer.status_code, Image.objects.get().author) == (201, "Ada")
    assert (answer.json()["new"], answer.json()["described"]) == (0, 1)
    assert [one["name"] for one in answer.json()["left_out"]] == ["notes.jpg"]


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
