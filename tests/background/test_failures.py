"""Background work that failed for good: noted, tried again, dismissed, counted."""

from datetime import timedelta

import pytest
from celery import shared_task
from django.core.mail import EmailMessage
from django.db import OperationalError
from django.utils import timezone

from background.failures import FailureOver, end_failure, note_failure, solve_failure
from background.gauges import gauges
from background.jobs.leases import fail, finish, take
from background.jobs.requests import JOBS_ARE_KEPT, delete_old_failures, request_job, run_again
from background.jobs.work import Result
from background.models import (
    Delivery,
    DeliveryStatus,
    Failure,
    FailureSource,
    Job,
    JobStatus,
    Notice,
    Webhook,
)
from background.notices.sending import MOST_ATTEMPTS, try_delivery
from background.tasks import PatientTask
from hits.services.syncs import LASTING, keep_problems
from tests.factories import NOON, CampaignFactory, TeamFactory, UserFactory

pytestmark = pytest.mark.django_db


def failed_job(campaign, error="The disk is full."):
    request_job(kind="report", arguments={}, user=None, at=NOON, about=campaign)
    job = take(at=NOON)
    fail(job=job, error=error, at=NOON)
    return job


def sync_problem(campaign, times, message="AccessDenied: the key is wrong"):
    for number in range(times):
        at = NOON + timedelta(minutes=number)
        keep_problems(campaign=campaign, found={"HIT 1": message}, at=at, is_complete=True)


def test_a_job_that_failed_is_noted_with_its_error():
    campaign = CampaignFactory()

    job = failed_job(campaign)

    failure = Failure.objects.get()
    assert (failure.source, failure.subject) == (FailureSource.JOB, str(job.key))
    assert failure.error == "The disk is full."
    assert (failure.team, failure.about) == (campaign.team, campaign)


def test_running_the_job_again_ends_its_failure():
    job = failed_job(CampaignFactory())
    job.refresh_from_db()

    run_again(job=job, user=None, at=NOON)

    assert not Failure.objects.open().exists()


def test_the_same_work_ends_the_failure_of_an_earlier_job_when_it_succeeds():
    campaign = CampaignFactory()
    failed_job(campaign)
    failed_job(CampaignFactory())
    request_job(kind="report", arguments={}, user=None, at=NOON, about=campaign)

    finish(job=take(at=NOON), result=Result(), at=NOON)

    assert [failure.about for failure in Failure.objects.exclude(ended_at=None)] == [campaign]


def test_a_problem_of_a_sync_is_a_failure_once_it_came_back_often():
    campaign = CampaignFactory()
    sync_problem(campaign, LASTING - 1)
    assert not Failure.objects.exists()

    sync_problem(campaign, 1)

    failure = Failure.objects.get()
    assert failure.source == FailureSource.SYNC
    assert failure.error == "HIT 1: AccessDenied: the key is wrong"


def test_a_sync_without_the_problem_ends_the_failure():
    campaign = CampaignFactory()
    sync_problem(campaign, LASTING)

    keep_problems(campaign=campaign, found={}, at=NOON + timedelta(days=1), is_complete=True)

    assert Failure.objects.get().ended_at == NOON + timedelta(days=1)


def test_a_problem_that_a_clock_stored_while_it_was_ahead_is_solved_like_any_other():
    campaign, now = CampaignFactory(), timezone.now()
    at = {"campaign": campaign, "is_complete": True}
    keep_problems(**at, found={"HIT 1": "AccessDenied"}, at=now + timedelta(days=1))

    keep_problems(**at, found={}, at=now)

    assert not campaign.sync_problems.exists()


def test_a_problem_lasts_since_a_time_that_has_been():
    campaign, now = CampaignFactory(), timezone.now()
    at = {"campaign": campaign, "found": {"HIT 1": "AccessDenied"}, "is_complete": True}
    keep_problems(**at, at=now + timedelta(days=365))

    keep_problems(**at, at=now)
    keep_problems(**at, at=now + timedelta(hours=1))

    assert campaign.sync_problems.get().first_at == now


def test_a_notice_that_was_given_up_is_a_failure():
    campaign = CampaignFactory()
    hook = Webhook.objects.create(
        about=campaign, url="http://127.0.0.1:9/", kinds=[], created_at=NOON
    )
    notice = Notice.objects.create(
        kind="try", title="Try", text="", path="/", subject="1", noticed_at=NOON, about=campaign
    )
    delivery = Delivery.objects.create(
        notice=notice, webhook=hook, due_at=NOON, attempts=MOST_ATTEMPTS
    )

    try_delivery(delivery, at=NOON)

    failure = Failure.objects.get()
    assert failure.source == FailureSource.DELIVERY
    assert failure.error.startswith(f"Given up after {MOST_ATTEMPTS} attempts.")


def test_a_team_sees_that_a_notice_about_none_of_its_campaigns_was_given_up(monkeypatch):
    def send(_message):
        raise ConnectionRefusedError("no mail server")

    monkeypatch.setattr(EmailMessage, "send", send)
    user = UserFactory(email="ada@example.org")
    team = user.memberships.get().team
    notice = Notice.objects.create(
        kind="job-failed", title="Failed: Import", text="", path="/", subject="1",
        noticed_at=NOON, team=team, is_personal=True,
    )  # fmt: skip
    delivery = Delivery.objects.create(
        notice=notice, user=user, due_at=NOON, attempts=MOST_ATTEMPTS
    )

    try_delivery(delivery, at=NOON)

    assert Failure.objects.get().team == team


@shared_task(base=PatientTask, name="tests.breaks")
def breaks(number, error=""):
    if error == "database":
        raise OperationalError("connection lost\nDETAIL: a row's values")
    if error:
        raise ValueError(error)


def test_a_task_that_fails_is_noted_and_one_that_succeeds_ends_it():
    # As in a Celery worker, which does not raise the error again.
    assert breaks.apply(args=[7], kwargs={"error": "no such folder"}, throw=False).failed()

    failure = Failure.objects.get()
    assert failure.error == "ValueError: no such folder"
    assert failure.arguments == {
        "task": "tests.breaks", "args": [7], "kwargs": {"error": "no such folder"}
    }  # fmt: skip
    assert failure.team is None

    failure.subject = "tests.breaks(7)"
    failure.save()
    breaks.apply(args=[7], throw=False)
    failure.refresh_from_db()
    assert failure.ended_at is not None


def test_values_of_rows_in_database_errors_are_not_stored():
    assert breaks.apply(args=[7], kwargs={"error": "database"}, throw=False).failed()

    assert Failure.objects.get().error == "OperationalError"


def test_the_same_failure_is_counted_and_not_listed_twice():
    values = {"source": FailureSource.TASK, "subject": "t", "title": "T"}
    note_failure(**values, error="one", at=NOON)
    note_failure(**values, error="two", at=NOON + timedelta(hours=1))

    failure = Failure.objects.get()
    assert (failure.times, failure.error) == (2, "two")
    assert (failure.first_at, failure.last_at) == (NOON, NOON + timedelta(hours=1))

    solve_failure(source=FailureSource.TASK, subject="t", at=NOON)
    note_failure(**values, error="three", at=NOON)
    assert Failure.objects.open().get().times == 1


def test_a_failure_is_ended_once():
    failed_job(CampaignFactory())
    failure, ada = Failure.objects.get(), UserFactory()
    end_failure(failure=failure, by=ada, at=NOON)

    with pytest.raises(FailureOver, match="solved, tried again or dismissed"):
        end_failure(failure=failure, by=ada, at=NOON)


@pytest.fixture
def ada(client):
    user = UserFactory()
    client.force_login(user)
    return user


def test_the_page_says_what_failed_and_why(client, ada):
    failed_job(CampaignFactory())

    page = client.get("/jobs/failures/").content.decode()

    assert "The disk is full." in page
    assert "1 failure needs attention" in client.get("/jobs/").content.decode()
    assert "failed" in client.get("/jobs/count/").content.decode()


def test_a_failed_job_is_tried_again_from_the_page(client, ada):
    job = failed_job(CampaignFactory())

    client.post(f"/jobs/failures/{Failure.objects.get().pk}/again/")

    assert Job.objects.get(status=JobStatus.WAITING).repeats == job
    failure = Failure.objects.get()
    assert (failure.ended_by, failure.ended_at is not None) == (ada, True)


def test_a_sync_is_tried_again_from_the_page(client, ada):
    campaign = CampaignFactory()
    sync_problem(campaign, LASTING)

    client.post(f"/jobs/failures/{Failure.objects.get().pk}/again/")

    assert Job.objects.get().kind == "sync"


def test_a_notice_is_tried_again_from_the_page(client, ada):
    test_a_notice_that_was_given_up_is_a_failure()

    client.post(f"/jobs/failures/{Failure.objects.get().pk}/again/")

    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.attempts) == (DeliveryStatus.WAITING, 0)


def test_without_a_broker_the_clock_tries_a_task_again_and_not_the_request(client, caplog):
    client.force_login(UserFactory(is_superuser=True))
    values = {"task": "tests.breaks", "args": [7], "kwargs": {"error": "it was started"}}
    note_failure(
        source=FailureSource.TASK, subject="t", title="T", error="e", at=NOON, arguments=values
    )

    answer = client.post(f"/jobs/failures/{Failure.objects.get().pk}/again/", follow=True)

    assert "is tried again" in answer.content.decode()
    assert not Failure.objects.open().exists()
    assert "it was started" not in caplog.text


def test_a_failure_that_cannot_be_tried_again_stays_on_the_page(client):
    client.force_login(UserFactory(is_superuser=True))
    note_failure(
        source=FailureSource.TASK, subject="t", title="T", error="e", at=NOON,
        arguments={"task": "gone.task", "args": [], "kwargs": {}},
    )  # fmt: skip

    answer = client.post(f"/jobs/failures/{Failure.objects.get().pk}/again/", follow=True)

    assert "has no such task" in answer.content.decode()
    assert Failure.objects.open().exists()


def test_a_failure_whose_job_was_deleted_stays_and_says_so(client, ada):
    failed_job(CampaignFactory()).delete()

    answer = client.post(f"/jobs/failures/{Failure.objects.get().pk}/again/", follow=True)

    assert "The job was deleted, because it is old." in answer.content.decode()
    assert Failure.objects.open().exists()


def test_dismissing_takes_a_failure_off_the_page_and_changes_nothing_else(client, ada):
    job = failed_job(CampaignFactory())

    client.post(f"/jobs/failures/{Failure.objects.get().pk}/dismiss/")

    assert "Nothing has failed." in client.get("/jobs/failures/").content.decode()
    assert Job.objects.get() == job


def test_other_teams_see_nothing_and_operators_also_what_belongs_to_no_team(client):
    failed_job(CampaignFactory())
    note_failure(source=FailureSource.TASK, subject="t", title="Tidy", error="e", at=NOON)
    own, site = Failure.objects.order_by("pk")
    client.force_login(UserFactory(team=TeamFactory(slug="other")))

    assert "Nothing has failed." in client.get("/jobs/failures/").content.decode()
    assert client.post(f"/jobs/failures/{own.pk}/dismiss/").status_code == 404
    assert client.post(f"/jobs/failures/{site.pk}/dismiss/").status_code == 404
    client.force_login(UserFactory(is_superuser=True))
    assert "Tidy" in client.get("/jobs/failures/").content.decode()


def test_failures_that_are_over_are_deleted_after_a_time():
    for subject in ("over", "open"):
        note_failure(source=FailureSource.TASK, subject=subject, title="T", error="e", at=NOON)
    solve_failure(source=FailureSource.TASK, subject="over", at=NOON)

    assert delete_old_failures(at=NOON + JOBS_ARE_KEPT) == 0
    assert delete_old_failures(at=NOON + JOBS_ARE_KEPT + timedelta(seconds=1)) == 1

    assert Failure.objects.get().subject == "open"


def test_metrics_count_open_failures():
    failed_job(CampaignFactory())

    found = {family.name: family for family in gauges()}

    samples = {s.labels["source"]: s.value for s in found["failures"].samples}
    assert samples == {"job": 1, "task": 0, "sync": 0, "delivery": 0}
