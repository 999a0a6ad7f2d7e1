"""Releases as pages, downloads and in the API, and image URLs."""

import dataclasses
import json
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.utils import timezone
from PIL import Image as PillowImage
from PIL.PngImagePlugin import PngInfo

from accounts.services.api_tokens import issue_token
from annotate.exports.formats import FORMATS
from background.jobs.requests import ARCHIVES_ARE_KEPT, delete_old_archives
from background.models import Job
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    CampaignFactory,
    ResponseFactory,
    TaskFactory,
    TeamFactory,
    UserFactory,
)
from tests.jobs import run_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture
def release():
    """Two images with two references and a baseline each."""
    campaign = CampaignFactory(slug="done", config={"references": 2})
    for number in (1, 2):
        task = TaskFactory(campaign=campaign, number=number)
        for _ in range(3):
            ResponseFactory(task=task)
    return release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)


def test_a_releases_page_shows_its_captions_and_its_files(
    signed_in, release, django_assert_max_num_queries
):
    signed_in.get("/releases/v1/")  # what is kept for the process is read once
    with django_assert_max_num_queries(15):
        page = signed_in.get("/releases/v1/").content.decode()

    assert page.count('class="thumbnail" href="https://images.example/') == 2
    assert page.count("human baseline</p>") == 2
    for file in ("captions.json", "baseline.json", "workers.json"):
        assert f'href="/releases/v1/{file}"' in page


def test_a_release_names_its_table_of_domains_where_an_image_has_one(signed_in, release):
    without = signed_in.get("/releases/v1/").content.decode()
    image = release.images.first()
    image.record["domain"] = "in-domain"
    image.save()

    assert "domains by" not in without
    assert "domains by coco-80" in signed_in.get("/releases/v1/").content.decode()


def test_a_release_without_baselines_offers_none(signed_in):
    config = {"references": 1, "baselines": 0}
    task = TaskFactory(campaign=CampaignFactory(slug="plain", config=config))
    ResponseFactory(task=task)
    release_campaign(campaign=task.campaign, name="v1", seed=1, at=NOON)

    page = signed_in.get("/releases/v1/").content.decode()
    form = signed_in.get("/review/plain/releases/").content.decode()

    assert "captions.json" in page
    assert "baseline" not in page
    assert signed_in.get("/releases/v1/baseline.json").status_code == 404
    assert set(signed_in.get("/api/releases/v1/").json()["files"]) == {
        "captions.json",
        "workers.json",
    }
    assert "It draws the captions, if one of the images has more than it needs;" in form
    assert "baseline" not in form


@pytest.mark.parametrize("file", ["captions.json", "baseline.json", "workers.json"])
def test_a_file_is_streamed_as_a_download(signed_in, release, file):
    answer = signed_in.get(f"/releases/v1/{file}")

    content = b"".join(answer.streaming_content)
    assert json.loads(content)
    assert answer["Content-Type"] == "application/json"
    assert answer["Content-Disposition"] == f'attachment; filename="v1-{file}"'


def test_page_and_api_give_the_same_bytes(signed_in, release):
    from_page = b"".join(signed_in.get("/releases/v1/captions.json").streaming_content)
    from_api = b"".join(signed_in.get("/api/releases/v1/captions.json").streaming_content)

    assert from_page == from_api
    assert len(json.loads(from_page)["annotations"]) == 4


@pytest.mark.parametrize("address", ["/releases/v2/", "/releases/v1/secrets.json"])
def test_missing_files_are_answered_with_404(signed_in, release, address):
    assert signed_in.get(address).status_code == 404


def test_the_list_takes_the_same_queries_for_many(
    signed_in, release, django_assert_max_num_queries
):
    for number in range(5):
        release_campaign(campaign=release.campaign, name=f"more-{number}", seed=1, at=NOON)

    with django_assert_max_num_queries(6):
        page = signed_in.get("/releases/")

    assert len(page.context["page"]) == 6


def test_the_api_lists_releases_with_the_addresses_of_their_files(client, release):
    _, token = issue_token(user=UserFactory(), at=timezone.now())

    found = client.get("/api/releases/v1/", headers={"Authorization": f"Token {token}"}).json()

    assert (found["campaign"], found["images"], found["seed"]) == ("done", 2, 1)
    assert found["files"]["captions.json"] == "http://testserver/api/releases/v1/captions.json"


# Archives


def archive(answer):
    with ZipFile(BytesIO(b"".join(answer.streaming_content))) as found:
        return {name: found.read(name) for name in found.namelist()}


def test_the_page_links_an_archive_in_each_format(signed_in, release):
    page = signed_in.get("/releases/v1/").content.decode()

    for name in FORMATS:
        address = f"/releases/v1/formats/{name}.zip"
        assert f'href="{address}"' in page
        assert f'href="{address}?with=workers,seconds,keywords"' in page


def test_a_format_whose_package_is_missing_is_not_offered(signed_in, release, monkeypatch):
    needy = dataclasses.replace(FORMATS["parquet"], packages=("no_such_package",))
    monkeypatch.setitem(FORMATS, "parquet", needy)

    page = signed_in.get("/releases/v1/").content.decode()
    answer = signed_in.get("/releases/v1/formats/parquet.zip", follow=True)

    assert "Not available: no_such_package is not installed on this site" in page
    assert answer.redirect_chain == [("/releases/v1/", 302)]
    assert "pip install no_such_package" in answer.content.decode()


@pytest.mark.parametrize("name", FORMATS)
def test_page_and_api_give_the_same_archive(signed_in, release, name):
    from_page = signed_in.get(f"/releases/v1/formats/{name}.zip")
    from_api = signed_in.get(f"/api/releases/v1/formats/{name}.zip")

    assert from_page["Content-Disposition"] == f'attachment; filename="v1-{name}.zip"'
    assert from_page["Content-Type"] == "application/zip"
    files = archive(from_page)
    assert files == archive(from_api)
    assert json.loads(files["v1/manifest.json"])["format"] == name


def test_extras_are_included_where_the_address_asks_for_them(signed_in, release):
    plain = archive(signed_in.get("/api/releases/v1/formats/csv.zip"))
    full = archive(signed_in.get("/api/releases/v1/formats/csv.zip?with=workers&with=seconds"))
    page = archive(signed_in.get("/releases/v1/formats/csv.zip?with=workers,seconds"))

    assert plain["v1/captions.csv"].startswith(b"id,image_id,caption\r\n")
    assert full["v1/captions.csv"].startswith(b"id,image_id,caption,worker,seconds\r\n")
    assert full == page


def test_the_api_names_the_archives_and_explains_a_wrong_extra(signed_in, release):
    formats = signed_in.get("/api/releases/v1/").json()["formats"]
    wrong = signed_in.get("/api/releases/v1/formats/csv.zip?with=names")

    assert formats["csv"] == "http://testserver/api/releases/v1/formats/csv.zip"
    assert set(formats) == set(FORMATS)
    assert wrong.status_code == 400
    assert wrong.json()["errors"] == {
        "with": ["There is no 'names'. Known are workers, seconds, keywords, remarks."]
    }


@pytest.mark.parametrize("prefix", ["", "/api"])
@pytest.mark.parametrize("address", ["v1/formats/xml.zip", "v2/formats/csv.zip"])
def test_an_archive_that_is_not_there_is_not_found(signed_in, release, prefix, address):
    assert signed_in.get(f"{prefix}/releases/{address}").status_code == 404


@pytest.mark.parametrize("prefix", ["", "/api"])
def test_nobody_gets_an_archive_without_an_account(client, release, prefix):
    assert client.get(f"{prefix}/releases/v1/formats/csv.zip").status_code in {302, 401}


def test_an_archive_is_made_by_a_job_and_offered_until_it_is_deleted(
    signed_in, release, settings, tmp_path
):
    settings.MEDIA_ROOT = tmp_path

    asked = signed_in.post("/releases/v1/exports/", {"format": "csv", "extras": ["workers"]})
    (job,) = run_jobs()
    page = signed_in.get("/releases/v1/").content.decode()
    archive = b"".join(signed_in.get(f"/jobs/{job.key}/file/").streaming_content)

    assert asked["Location"] == f"/jobs/{job.key}/"
    assert job.result_text.endswith("KB written.")
    assert f'href="/jobs/{job.key}/file/"' in page
    assert "downloaded here for 30 days" in page
    assert ZipFile(BytesIO(archive)).namelist()
    assert delete_old_archives(at=job.ended_at + ARCHIVES_ARE_KEPT) == 0
    assert delete_old_archives(at=job.ended_at + 2 * ARCHIVES_ARE_KEPT) == 1
    assert not list(tmp_path.rglob("*.zip"))
    assert f"/jobs/{job.key}/file/" not in signed_in.get("/releases/v1/").content.decode()


def test_an_archive_of_an_unknown_format_is_not_made(signed_in, release):
    page = signed_in.post("/releases/v1/exports/", {"format": "floppy"}, follow=True)

    assert "Choose one of the formats." in page.content.decode()
    assert not Job.objects.exists()


def with_a_file(image, folder, content):
    image.file = f"images/{image.pk}.png"
    image.save()
    (folder / "images").mkdir(exist_ok=True)
    (folder / image.file).write_bytes(content)


@pytest.fixture
def with_files(release, settings, tmp_path):
    """The release; its images have files, with a comment that nobody outside may read."""
    settings.MEDIA_ROOT = tmp_path
    comment = PngInfo()
    comment.add_text("Comment", "taken at home")
    stream = BytesIO()
    PillowImage.new("RGB", (8, 8), "red").save(stream, "PNG", pnginfo=comment)
    for each in release.images.select_related("task__image"):
        with_a_file(each.task.image, tmp_path, stream.getvalue())
    return release


def archive_of(client, job):
    content = b"".join(client.get(f"/jobs/{job.key}/file/").streaming_content)
    return ZipFile(BytesIO(content))


def test_an_archive_with_image_files_is_made_in_the_browser(signed_in, with_files):
    signed_in.post("/releases/v1/exports/", {"format": "jsonl", "extras": ["images", "seconds"]})
    (job,) = run_jobs()
    page = signed_in.get("/releases/v1/").content.decode()
    archive = archive_of(signed_in, job)

    images = [name for name in archive.namelist() if name.startswith("v1/images/")]
    manifest = json.loads(archive.read("v1/manifest.json"))
    credits = archive.read("v1/ATTRIBUTION.csv").decode().splitlines()
    assert len(images) == 2
    assert b"taken at home" not in b"".join(map(archive.read, images))
    assert manifest["images"] is True
    assert manifest["with"] == ["seconds"]
    assert set(images) <= {f"v1/{each['name']}" for each in manifest["files"]}
    assert "license_url" in credits[0]
    assert len(credits) == 3
    assert (job.done, job.total) == (2, 2)
    assert "jsonl with seconds, with image files" in page


def test_an_archive_with_image_files_needs_them_all(signed_in, with_files):
    offered = signed_in.get("/releases/v1/").content.decode()
    image = with_files.images.first().task.image
    image.file = ""
    image.save()

    page = signed_in.get("/releases/v1/").content.decode()
    asked = signed_in.post("/releases/v1/exports/", {"format": "csv", "extras": ["images"]})

    assert 'value="images"' in offered
    assert 'value="images"' not in page
    assert asked["Location"] == "/releases/v1/"
    assert not Job.objects.exists()


def test_a_missing_image_file_fails_the_job_and_leaves_nothing(signed_in, with_files, tmp_path):
    (tmp_path / with_files.images.first().task.image.file).unlink()

    signed_in.post("/releases/v1/exports/", {"format": "csv", "extras": ["images"]})
    (job,) = run_jobs()

    assert job.status == "FAILED"
    assert "1 of 2 image files are not under MEDIA_ROOT" in job.error
    assert not [path for path in (tmp_path / "exports").rglob("*") if path.is_file()]


LICENCES = ("https://cc.example/by/", "")


def test_the_page_says_how_many_images_name_no_licence(signed_in, release):
    for each, licence in zip(release.images.order_by("number"), LICENCES, strict=True):
        each.record["license_url"] = licence
        each.save()

    page = signed_in.get("/releases/v1/").content.decode()

    assert "The licence of 1 of 2 images is not known" in page


def test_only_the_team_gets_an_archive_with_image_files(client, with_files):
    client.force_login(UserFactory(team=TeamFactory()))

    asked = client.post("/releases/v1/exports/", {"format": "csv", "extras": ["images"]})

    assert asked.status_code == 404
    assert not Job.objects.exists()
