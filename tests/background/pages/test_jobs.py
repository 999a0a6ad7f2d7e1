"""The pages of jobs."""

import io
from zipfile import ZipFile

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from background.jobs.requests import request_job
from background.models import Job, JobStatus
from leaderboard.models import Submitter
from tests.factories import NOON, UserFactory
from tests.jobs import run_jobs
from tests.leaderboard.making import make_release

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(client):
    user = UserFactory(username="ada")
    client.force_login(user)
    return user


@pytest.fixture
def release():
    return make_release(images=3)


def ask(release, user=None, at=NOON, **arguments):
    arguments = {"format": "coco", **arguments}
    return request_job(kind="export", arguments=arguments, user=user, at=at, about=release)


def test_an_export_is_a_job_whose_file_is_downloaded(client, user, release):
    job = ask(release, user)
    assert client.get(f"{job.get_absolute_url()}file/").status_code == 404

    run_jobs()

    page = client.get(job.get_absolute_url()).content.decode()
    assert "Download file" in page
    answer = client.get(f"{job.get_absolute_url()}file/")
    archive = ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    assert f"{release.name}/manifest.json" in archive.namelist()


def test_the_list_shows_jobs_by_status(client, user, release):
    ask(release, format="nothing")
    run_jobs()
    ask(release, user)

    whole = client.get("/jobs/").content.decode()
    failed = client.get("/jobs/?status=failed").content.decode()

    assert "as coco" in whole
    assert "There is no format &#x27;nothing&#x27;." in whole
    assert "as coco" not in failed
    assert "No job has this status." in client.get("/jobs/?status=cancelled").content.decode()


def test_the_header_counts_unfinished_jobs(client, user, release):
    assert "unfinished" not in client.get("/jobs/count/").content.decode()

    ask(release)

    assert (
        '>1<span class="visually-hidden"> unfinished' in client.get("/jobs/count/").content.decode()
    )


def test_the_page_of_a_job_that_nobody_starts_says_so(client, user, release):
    late, early = ask(release, at=NOON), ask(release, at=timezone.now(), format="csv")

    page = client.get(late.get_absolute_url()).content.decode()

    assert "No worker process has started this job." in page
    Job.objects.filter(pk=late.pk).delete()
    page = client.get(early.get_absolute_url()).content.decode()
    assert "Starts in a moment." in page


def test_the_part_of_a_page_reloads_itself_until_the_job_has_ended(client, user, release):
    job = ask(release)
    part = client.get(job.get_absolute_url(), headers={"HX-Request": "true"}).content.decode()

    assert "hx-trigger" in part
    assert "<html" not in part
    run_jobs()
    part = client.get(job.get_absolute_url(), headers={"HX-Request": "true"}).content.decode()
    assert "hx-trigger" not in part


def test_buttons_cancel_a_job_and_run_it_again(client, user, release):
    job = ask(release)

    for _ in range(2):
        client.post(f"{job.get_absolute_url()}cancel/")
    answer = client.post(f"{job.get_absolute_url()}again/")

    job.refresh_from_db()
    assert (job.status, job.cancel_asked_by) == (JobStatus.CANCELLED, user)
    again = Job.objects.exclude(pk=job.pk).get()
    assert answer.url == again.get_absolute_url()
    assert (again.repeats, again.asked_by) == (job, user)
    assert client.get(f"{job.get_absolute_url()}cancel/").status_code == 405


@pytest.mark.parametrize("status", ["WAITING", "DONE"])
def test_a_job_of_a_kind_that_is_gone_has_a_page(client, user, release, status):
    job = ask(release, user)
    if status == "DONE":
        run_jobs()
    Job.objects.update(kind="gone")

    page = client.get(job.get_absolute_url())
    refused = client.post(f"{job.get_absolute_url()}again/", follow=True)

    assert page.status_code == 200
    assert "Run again" not in page.content.decode()
    assert "no jobs of the kind &#x27;gone&#x27;" in refused.content.decode()


@pytest.mark.parametrize("path", ["", "count/", "KEY/", "KEY/file/", "KEY/cancel/", "KEY/again/"])
def test_jobs_are_for_researchers(client, release, path):
    job = ask(release)
    url = f"/jobs/{path}".replace("KEY", str(job.key))
    method = client.post if path.endswith(("cancel/", "again/")) else client.get

    assert method(url).url.startswith("/sign-in/")
    stranger = UserFactory()
    Submitter.objects.create(user=stranger, team="Team", created_at=NOON)
    client.force_login(stranger)
    assert method(url).status_code == 403
    job.refresh_from_db()
    assert job.status == JobStatus.WAITING


def test_the_list_takes_as_many_queries_for_many_jobs_as_for_one(client, user, release):
    def queries():
        with CaptureQueriesContext(connection) as found:
            client.get("/jobs/")
        return len(found)

    ask(release, user)
    few = queries()
    for number in range(20):
        ask(release, user, format=f"other-{number}")

    assert queries() == few


def test_the_result_opens_by_itself_once_for_whom_requested_the_job(client, user, release):
    client.post(f"/releases/{release.name}/report/", {})
    job = Job.objects.get()
    run_jobs()
    part = {"headers": {"HX-Request": "true"}}

    shown = client.get(job.get_absolute_url(), **part)
    opened = client.get(f"{job.get_absolute_url()}?open", **part)
    later = client.get(f"{job.get_absolute_url()}?open", **part)

    assert "?open" in shown.content.decode()
    assert "HX-Redirect" not in shown
    assert opened["HX-Redirect"] == reverse("annotate:report", args=[release.name])
    assert "?open" not in later.content.decode()
    assert "HX-Redirect" not in later
    page = client.get(release.get_absolute_url()).content.decode()
    assert f'<a href="{job.get_absolute_url()}">Log</a>' in page
