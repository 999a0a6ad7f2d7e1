"""Uploading images: forms, archives, what is refused, and the jobs that import them."""

import io
import json
import re
import shutil
import stat
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from accounts.services.teams import first_team
from annotate.models import Box, CaptionSet, Image, ObjectClass
from annotate.services import uploads
from background.jobs.work import WorkerStopped
from background.models import Failure, Job, JobStatus
from corpora.reading.zip_files import UnsafeName, safe_name
from simulation.scenes.dataset import BOX_HEADER, IMAGE_HEADER
from tests.factories import NOON, ImageFactory, UserFactory
from tests.jobs import run_jobs
from tests.pictures import photograph

pytestmark = pytest.mark.django_db

ADDRESS = "/images/import/"


@pytest.fixture(autouse=True)
def folders(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.UPLOAD_ROOT = tmp_path / "uploads"


@pytest.fixture(autouse=True)
def researcher(client):
    client.force_login(UserFactory(is_staff=True, is_superuser=True))


def file(name, content):
    return SimpleUploadedFile(name, content)


def upload(client, *files, **fields):
    values = {"kind": "own", "split": "mine", "photographs": list(files), "complete": "1", **fields}
    return client.post(ADDRESS, {name: value for name, value in values.items() if value != []})


def archive(**entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries.items():
            made.writestr(name, content)
    return out.getvalue()


def stored_uploads(settings):
    root = Path(settings.UPLOAD_ROOT)
    return list(root.iterdir()) if root.exists() else []


def names():
    return set(Image.objects.values_list("file_name", flat=True))


def assert_refused(client, settings, response, reason, status=422):
    assert response.status_code == status
    assert reason in response.content.decode()
    assert not Job.objects.exists()
    assert stored_uploads(settings) == []


def test_uploaded_files_are_imported_by_a_job_under_their_paths(client, settings):
    files = [file("صورة.png", photograph()), file("b.png", photograph("blue"))]

    response = upload(client, *files, paths=json.dumps(["trip/صورة.png", "trip/🐕.png"]))
    (job,) = run_jobs()

    assert response.url == job.get_absolute_url()
    assert job.status == JobStatus.DONE, job.error
    assert names() == {"trip/صورة.png", "trip/🐕.png"}
    assert stored_uploads(settings) == []


def test_without_the_script_files_have_their_names(client):
    upload(client, file("a.png", photograph()))
    run_jobs()

    assert names() == {"a.png"}


@pytest.mark.parametrize("paths", ["nonsense", "[" * 100_000, "[]", '["a.png", "b.png"]', "[7]"])
def test_paths_that_do_not_fit_the_files_are_refused(client, settings, paths):
    response = upload(client, file("a.png", photograph()), paths=paths)

    assert_refused(client, settings, response, "a path for each file")


def test_files_that_are_left_out_are_named_in_the_jobs_log(client):
    upload(client, file("a.png", photograph()), file("b.png", photograph()), file("c.png", b"x"))

    (job,) = run_jobs()

    log = "\n".join(job.lines.values_list("text", flat=True))
    assert "b.png: same content as a.png" in log
    assert "c.png: is not an image in a supported format" in log
    assert "1 image imported" in job.result_text


def test_a_form_sent_twice_imports_each_image_once(client):
    for _ in range(2):
        upload(client, file("a.png", photograph()))

    jobs = run_jobs()

    assert [job.status for job in jobs] == [JobStatus.DONE] * 2
    assert Image.objects.count() == 1


def test_an_archive_is_unpacked_without_the_systems_files(client, settings):
    content = archive(
        **{
            "trip/a.png": photograph(),
            "صورة.png": photograph("blue"),
            "__MACOSX/a.png": b"x",
            "trip/.DS_Store": b"x",
        }
    )

    upload(client, file("photos.zip", content), file("c.png", photograph("green")))
    (job,) = run_jobs()

    assert job.status == JobStatus.DONE, job.error
    assert names() == {"trip/a.png", "صورة.png", "c.png"}
    assert stored_uploads(settings) == []


def test_names_in_utf8_are_read_even_if_the_archive_does_not_say_so(client):
    content = archive(**{"صورة.png": photograph()})
    # The bit that says that names are UTF-8, in both places where an entry has it.
    unmarked = content.replace(b"\x00\x08", b"\x00\x00")

    upload(client, file("photos.zip", unmarked))
    run_jobs()

    assert names() == {"صورة.png"}


@pytest.mark.parametrize("name", ["../a.png", "/etc/a.png", "a/../../b.png", "C:\\a.png"])
def test_an_archive_with_names_outside_of_it_is_refused(client, settings, name):
    content = archive(**{name: photograph(), "b.png": photograph("blue")})

    response = upload(client, file("photos.zip", content))

    assert_refused(client, settings, response, "leads out of its folder")


def test_an_archive_with_a_symbolic_link_is_refused(client, settings):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        entry = zipfile.ZipInfo("a.png")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(entry, "/etc/passwd")

    response = upload(client, file("photos.zip", out.getvalue()))

    assert_refused(client, settings, response, "has a symbolic link")


def test_an_archive_that_unpacks_to_too_much_is_refused(client, settings):
    settings.UNPACKED_MAX_MB = 1
    content = archive(**{"bomb.png": bytes(2_000_000)})
    assert len(content) < 10_000

    response = upload(client, file("photos.zip", content))

    assert_refused(client, settings, response, "would unpack to more than 1 MB")


def test_an_archive_whose_list_of_files_is_false_stops_the_job(client, settings):
    settings.UNPACKED_MAX_MB = 1
    size = 2_000_000
    content = archive(**{"bomb.png": bytes(size)})
    false = content.replace(size.to_bytes(4, "little"), (10).to_bytes(4, "little"))

    upload(client, file("photos.zip", false))
    (job,) = run_jobs()

    assert job.status == JobStatus.FAILED
    assert "photos.zip" in job.error
    assert not Image.objects.exists()


def test_an_archive_with_too_many_files_is_refused(client, settings):
    settings.UNPACKED_MAX_FILES = 2
    content = archive(**{f"{number}.png": b"" for number in range(3)})

    response = upload(client, file("photos.zip", content))

    assert_refused(client, settings, response, "has 3 files; at most 2 are allowed")


def test_half_an_archive_is_refused(client, settings):
    content = archive(**{"a.png": photograph(), "b.png": photograph("blue")})

    response = upload(client, file("photos.zip", content[: len(content) // 2]))

    assert_refused(client, settings, response, "is not a complete ZIP file")


def test_an_upload_that_was_cut_off_imports_nothing(client, settings):
    response = client.post(
        ADDRESS, {"kind": "own", "split": "mine", "photographs": [file("a.png", photograph())]}
    )

    assert_refused(client, settings, response, "The upload was cut off", 400)


def test_an_upload_that_is_too_large_is_refused_before_it_is_read(client, settings):
    settings.UPLOAD_MAX_MB = 1

    response = client.post(
        ADDRESS, b"--x--", content_type="multipart/form-data; boundary=x", CONTENT_LENGTH=3 * 10**9
    )

    assert_refused(client, settings, response, "The upload is larger than 1 MB", 413)


def test_too_many_files_are_refused(client, settings):
    settings.UPLOAD_MAX_FILES = 1
    files = [file("a.png", photograph()), file("b.png", photograph("blue"))]

    assert_refused(client, settings, upload(client, *files), "2 files are too many")


def test_an_old_upload_that_another_process_deletes_is_no_fault(client, settings, monkeypatch):
    old = settings.UPLOAD_ROOT / "old"
    old.mkdir(parents=True)
    is_dir = Path.is_dir

    def deleted_after(path):
        was_there = is_dir(path)
        if path == old:
            shutil.rmtree(old, ignore_errors=True)
        return was_there

    monkeypatch.setattr(Path, "is_dir", deleted_after)

    assert uploads.delete_old_uploads(at=timezone.now()) == 0


def test_names_in_other_letters_are_not_one_split(client):
    for split, colour in (("猫", "red"), ("犬", "blue"), ("été", "green"), ("ete", "white")):
        upload(client, file(f"{colour}.png", photograph(colour)), split=split)
        run_jobs()

    splits = dict(Image.objects.values_list("file_name", "split"))
    assert splits["red.png"] == "photographs"
    assert splits["blue.png"] == "photographs-2"
    assert splits["green.png"] == splits["white.png"] == "ete"


def test_any_name_is_accepted(client):
    page = client.get("/images/import/").content.decode()
    upload(client, file("a.png", photograph()), split="../Two days in May")

    assert re.search(r'value="photographs-20\d\d-\d\d-\d\d"', page)
    assert Job.objects.get().arguments["split"] == "two-days-in-may"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"split": ""}, "This field is required."),
        ({"split": "taken"}, "has images of Open Images"),
        ({"photographs": []}, "Choose photographs or a ZIP file."),
        ({"paths": '["../a.png"]'}, "leads out of its folder"),
        ({"kind": "magic"}, "The upload was cut off"),
    ],
)
def test_a_wrong_form_says_what_is_wrong(client, settings, fields, reason):
    ImageFactory(split="taken", team=first_team(at=NOON))
    fields = {"photographs": [file("a.png", photograph())], **fields}

    response = upload(client, **fields)

    assert_refused(client, settings, response, reason, response.status_code)


def test_forms_without_the_token_are_refused(researcher, settings, client):
    client.handler.enforce_csrf_checks = True

    assert upload(client, file("a.png", photograph())).status_code == 403
    assert stored_uploads(settings) == []


def test_strangers_cannot_upload(client, settings):
    client.logout()

    assert upload(client, file("a.png", photograph())).url.startswith("/sign-in/")
    assert stored_uploads(settings) == []


def test_a_table_of_facts_goes_with_the_files(client):
    table = file("facts.csv", b"file_name,author,classes\na.png,Ada,Park\n")

    upload(client, file("a.png", photograph()), table=table)
    (job,) = run_jobs()

    assert job.status == JobStatus.DONE, job.error
    assert (Image.objects.get().author, Box.objects.count()) == ("Ada", 1)


def test_a_malformed_table_is_refused_at_once(client, settings):
    table = file("facts.csv", b"name\na.png\n")

    response = upload(client, file("a.png", photograph()), table=table)

    assert_refused(client, settings, response, "facts.csv")


def test_a_job_whose_upload_is_gone_says_so(client):
    upload(client, file("a.png", photograph()))
    uploads.drop_upload(Job.objects.get().arguments["upload"])

    (job,) = run_jobs()

    assert job.status == JobStatus.FAILED
    assert "Upload them again." in job.error


def test_files_that_are_sent_again_end_the_failure_of_the_first_time(client):
    for name in ("a.png", "b.png"):
        upload(client, file(name, b"no image"))
    run_jobs()
    assert Failure.objects.open().count() == 2

    upload(client, file("a.png", photograph()))
    run_jobs()

    left = Failure.objects.open().get()
    assert "b.png" in left.error


def test_a_dataset_that_is_sent_again_ends_the_failure_of_the_first_time(client):
    for content in (b"no classes", b"/m/0bt9lr,Dog\n"):
        sent = {"kind": "openimages", "classes": file("classes.csv", content)}
        client.post(ADDRESS, {**sent, "complete": "1"})
        run_jobs()

    assert Failure.objects.count() == 1
    assert not Failure.objects.open().exists()


def test_a_job_that_was_killed_after_it_had_imported_a_dataset_is_done(client):
    sent = {"kind": "openimages", "classes": file("classes.csv", b"/m/0bt9lr,Dog\n")}
    client.post(ADDRESS, {**sent, "complete": "1"})
    uploads.drop_upload(Job.objects.get().arguments["upload"])
    Job.objects.update(attempts=1)

    (job,) = run_jobs()

    assert (job.attempts, job.status) == (2, JobStatus.DONE), job.error


# Folders of the server


def test_folders_of_the_server_are_off_by_default(client, settings):
    assert "folder on the server" not in client.get(ADDRESS).content.decode()
    response = upload(client, folder="trip", photographs=[])
    assert_refused(client, settings, response, "Choose photographs")


def test_a_folder_of_the_server_is_imported_without_links_that_lead_out(client, settings, tmp_path):
    settings.IMAGES_FOLDER = str(tmp_path / "server")
    trip = tmp_path / "server" / "trip"
    trip.mkdir(parents=True)
    (trip / "a.png").write_bytes(photograph())
    (tmp_path / "secret.png").write_bytes(photograph("blue"))
    (trip / "link.png").symlink_to(tmp_path / "secret.png")

    upload(client, folder="trip", photographs=[])
    (job,) = run_jobs()

    assert job.status == JobStatus.DONE, job.error
    assert names() == {"a.png"}


def test_a_table_describes_the_files_of_a_folder_of_the_server(client, settings, tmp_path):
    settings.IMAGES_FOLDER = str(tmp_path / "server")
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "a.png").write_bytes(photograph())
    table = file("facts.csv", b"file_name,author\na.png,Ada\n")

    upload(client, folder=".", table=table, photographs=[])
    (job,) = run_jobs()

    assert job.status == JobStatus.DONE, job.error
    assert Image.objects.get().author == "Ada"
    assert stored_uploads(settings) == []


def test_photographs_and_a_folder_of_the_server_are_not_imported_at_once(
    client, settings, tmp_path
):
    settings.IMAGES_FOLDER = str(tmp_path)

    response = upload(client, file("a.png", photograph()), folder=".")

    assert_refused(client, settings, response, "Choose photographs or a folder, not both.")


@pytest.mark.parametrize("folder", ["..", "trip/../..", "/etc", "none", "link", "x" * 300])
def test_a_folder_elsewhere_on_the_server_is_refused(client, settings, tmp_path, folder):
    settings.IMAGES_FOLDER = str(tmp_path / "server")
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "link").symlink_to(tmp_path)

    response = upload(client, folder=folder, photographs=[])

    assert response.status_code == 422
    assert not Job.objects.exists()


@pytest.mark.parametrize("name", ["..", "a/..", "/", "", "a\0b", "..\\a"])
def test_unsafe_names(name):
    with pytest.raises(UnsafeName):
        safe_name(name)


def test_safe_names_have_slashes():
    assert safe_name("./a\\b//c.png") == "a/b/c.png"


# Datasets


def upload_coco_with_captions(client):
    instances = {
        "images": [{"id": 7, "width": 10, "height": 10, "file_name": "7.jpg"}],
        "categories": [{"id": 1, "name": "dog"}],
        "annotations": [{"id": 1, "image_id": 7, "category_id": 1, "bbox": [0, 0, 5, 5]}],
    }
    captions = {
        "images": [{"id": 7}],
        "annotations": [{"id": 1, "image_id": 7, "caption": "A dog sleeps."}],
    }
    client.post(
        ADDRESS,
        {
            "kind": "coco",
            "split": "val",
            "coco": file("instances.json", json.dumps(instances).encode()),
            "captions": file("captions.json", json.dumps(captions).encode()),
            "caption_set": "coco-val",
            "complete": "1",
        },
    )


def test_a_coco_file_and_its_captions_are_imported(client, settings):
    upload_coco_with_captions(client)

    (job,) = run_jobs()

    assert job.status == JobStatus.DONE, job.error
    assert Box.objects.get().object_class.name == "dog"
    assert CaptionSet.objects.get().name == "coco-val"
    assert stored_uploads(settings) == []


def test_a_job_that_was_stopped_after_it_had_imported_captions_continues(
    client, settings, monkeypatch
):
    def stop(key):
        raise WorkerStopped

    upload_coco_with_captions(client)
    with monkeypatch.context() as stopped:
        stopped.setattr(uploads, "drop_upload", stop)
        with pytest.raises(WorkerStopped):
            run_jobs()

    (job,) = run_jobs()

    assert job.status == JobStatus.DONE, job.error
    assert CaptionSet.objects.get().captions.count() == 1
    assert stored_uploads(settings) == []


def test_files_of_open_images_are_imported_in_their_order(client):
    client.post(
        ADDRESS,
        {
            "kind": "openimages",
            "classes": file("classes.csv", b"/m/0bt9lr,Dog\n"),
            "complete": "1",
        },
    )

    (job,) = run_jobs()

    assert job.status == JobStatus.DONE, job.error
    assert ObjectClass.objects.get().name == "Dog"


def test_files_are_imported_in_their_order_whatever_the_order_of_the_jobs_arguments(
    client, write_csv, image_row, box_row
):
    """PostgreSQL stores the keys of JSON by their length."""
    contents = {
        "boxes": write_csv("b.csv", BOX_HEADER, [box_row()]),
        "images": write_csv("i.csv", IMAGE_HEADER, [image_row("0001")]),
        "classes": write_csv("c.csv", [], [["/m/0bt9lr", "Dog"]]),
    }
    files = {part: file(f"{part}.csv", path.read_bytes()) for part, path in contents.items()}
    client.post(ADDRESS, {"kind": "openimages", "split": "val", "complete": "1", **files})
    waiting = Job.objects.get()
    waiting.arguments["files"] = {part: waiting.arguments["files"][part] for part in contents}
    waiting.save()

    (job,) = run_jobs()

    assert job.status == JobStatus.DONE, job.error
    assert Box.objects.count() == 1


def test_a_malformed_file_is_named_as_it_was_uploaded(client, settings):
    client.post(
        ADDRESS,
        {
            "kind": "coco",
            "split": "val",
            "coco": file("instances.json", b"{}"),
            "complete": "1",
        },
    )

    (job,) = run_jobs()

    assert job.status == JobStatus.FAILED
    assert "instances.json" in job.error
    assert str(settings.UPLOAD_ROOT) not in job.error


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": "coco", "split": "val"}, "Choose at least one file."),
        ({"kind": "openimages"}, "Choose at least one file."),
        ({"kind": "coco", "split": "../x", "coco": "x"}, "cannot be the name of a split"),
        ({"kind": "coco", "split": "val", "captions": "x"}, "Name the caption set."),
        ({"kind": "openimages", "boxes": "x"}, "Metadata and boxes need a split."),
    ],
)
def test_a_wrong_form_of_a_dataset_says_what_is_wrong(client, settings, fields, reason):
    sent = {
        name: file("x.json", b"{}") if value == "x" else value for name, value in fields.items()
    }

    response = client.post(ADDRESS, {**sent, "complete": "1"})

    assert_refused(client, settings, response, reason)
