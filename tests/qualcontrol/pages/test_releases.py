"""The page of releases."""

import pytest

from annotate.models import Release
from background.jobs.work import WorkerStopped
from background.models import Job, JobStatus
from qualcontrol import job_kinds
from tests.factories import NOON, CampaignFactory, ResponseFactory, TaskFactory
from tests.jobs import run_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database, pytest.mark.usefixtures("reviewer")]


def complete_campaign(slug):
    campaign = CampaignFactory(slug=slug, config={"references": 1})
    ResponseFactory.create_batch(2, task=TaskFactory(campaign=campaign))
    return campaign


def test_the_releases_page_says_what_is_missing_and_refuses(client, campaign):
    TaskFactory(campaign=campaign, image__key="0123abcd")

    answer = client.post("/review/pilot/releases/", {"name": "v1", "seed": "1"})

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "image 0123abcd has 0 of 11 captions" in page
    assert "The campaign is not complete: the list above says what is missing." in page
    assert not Release.objects.exists()


def test_a_release_is_made_from_its_page(client):
    complete_campaign("done")

    answer = client.post("/review/done/releases/", {"name": "v1", "seed": "3"})

    assert not Release.objects.exists()
    (job,) = run_jobs()
    release = Release.objects.get()
    assert answer.url == job.get_absolute_url()
    assert job.result_url == f"/releases/{release.name}/"
    assert (release.seed, release.is_partial) == (3, False)


def test_the_form_proposes_the_first_free_name(client):
    complete_campaign("done")

    names = []
    for _ in range(2):
        names.append(client.get("/review/done/releases/").context["form"]["name"].value())
        client.post("/review/done/releases/", {"name": names[-1], "seed": "3"})
        run_jobs()

    assert names == ["done-v1", "done-v2"]


def test_a_partial_release_is_made_when_it_is_asked_for(client):
    TaskFactory(campaign=complete_campaign("half"))

    client.post("/review/half/releases/", {"name": "v1", "seed": "3", "partial": "on"})

    run_jobs()
    assert Release.objects.get().is_partial


def test_a_releases_name_is_given_once(client):
    complete_campaign("done")
    client.post("/review/done/releases/", {"name": "v1", "seed": "3"})
    run_jobs()

    answer = client.post("/review/done/releases/", {"name": "v1", "seed": "4"})

    assert "A release named v1 exists." in answer.content.decode()
    assert Release.objects.get().seed == 3


def test_a_release_of_nothing_is_refused(client, campaign):
    answer = client.post("/review/pilot/releases/", {"name": "v1", "seed": "1"})

    (job,) = run_jobs()
    assert job.status == JobStatus.FAILED
    page = client.get(answer.url).content.decode()
    assert "pilot has no image with all its captions" in page


def test_a_form_that_is_sent_twice_makes_one_job(client, campaign):
    first = client.post("/review/pilot/releases/", {"name": "v1", "seed": "1"})
    second = client.post("/review/pilot/releases/", {"name": "v1", "seed": "1"})

    assert first.url == second.url
    assert Job.objects.count() == 1


def test_a_release_that_was_made_before_its_worker_was_killed_is_the_result(client):
    complete_campaign("done")
    client.post("/review/done/releases/", {"name": "v1", "seed": "3"})
    run_jobs()
    Job.objects.update(status=JobStatus.WAITING, ended_at=None, due_at=NOON)

    (job,) = run_jobs()

    assert (job.status, job.attempts) == (JobStatus.DONE, 2)
    assert Release.objects.get().name == "v1"


def test_a_release_that_was_made_before_its_worker_was_told_to_stop_is_the_result(
    client, monkeypatch
):
    complete_campaign("done")
    client.post("/review/done/releases/", {"name": "v1", "seed": "3"})
    release = job_kinds.release_campaign

    def make_and_be_stopped(**values):
        release(**values)
        raise WorkerStopped

    with monkeypatch.context() as patch:
        patch.setattr(job_kinds, "release_campaign", make_and_be_stopped)
        with pytest.raises(WorkerStopped):
            run_jobs()

    (job,) = run_jobs()

    assert (job.status, job.error) == (JobStatus.DONE, "")
    assert Release.objects.get().name == "v1"


def test_with_a_broker_a_celery_worker_is_told(
    client, settings, monkeypatch, django_capture_on_commit_callbacks
):
    CampaignFactory(slug="done")
    told = []
    settings.CELERY_TASK_ALWAYS_EAGER = False
    monkeypatch.setattr("background.tasks.work_next.delay", lambda: told.append(True))

    fields = {"name": "v1", "seed": "3", "hidden_percent": "50"}
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/review/done/releases/", fields)

    assert told == [True]
    assert Job.objects.get().arguments == {
        "name": "v1",
        "seed": 3,
        "partial": False,
        "hidden": {"share": 0.5},
        "domains": "coco-80",
    }
