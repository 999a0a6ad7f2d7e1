"""Jobs: requests, leases, workers that are killed, cancelling."""

from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from background.jobs import leases
from background.jobs import work as kinds
from background.jobs.requests import JobRefused, cancel_job, request_job, run_again
from background.jobs.runner import WorkerStopped, run_next, run_taken
from background.jobs.work import JobFailed, JobInterrupted, JobKind, Result, UnknownKind, Work
from background.models import Job, JobStatus
from corpora.errors import DomainError
from tests.factories import NOON, CampaignFactory, UserFactory
from tests.jobs import run_jobs
from tests.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def kind(monkeypatch):
    """Register a kind of job for this test; returns a function that takes the work to do."""

    def add(work=lambda work: Result("Done."), name="try", **options):
        monkeypatch.setitem(kinds._kinds, name, JobKind(name, "Try", work, **options))

    add()
    return add


def ask(at=None, **values):
    values = {"kind": "try", "arguments": {}, "user": None, **values}
    return request_job(at=at or timezone.now(), **values)


def lines_of(job):
    return [line.text for line in job.lines.all()]


def test_a_job_says_what_it_did_and_how_it_ended(kind):
    def count(work: Work) -> Result:
        work.step("Counting", total=3)
        for number in work.each(["a", "b", "c"]):
            work.log(f"Counted {number}.")
        return Result("3 counted.", url="/jobs/")

    kind(count)
    job = ask(about=CampaignFactory(slug="pilot"), user=UserFactory(username="ada"))

    run_jobs()

    job.refresh_from_db()
    assert (job.status, job.title, job.attempts) == (JobStatus.DONE, "Try: pilot", 1)
    assert (job.step, job.done, job.total) == ("Counting", 3, 3)
    assert (job.result_text, job.result_url, job.error) == ("3 counted.", "/jobs/", "")
    assert lines_of(job) == ["Counting", "Counted a.", "Counted b.", "Counted c.", "3 counted."]


def test_the_same_work_is_one_job_until_it_has_ended(kind):
    first = ask(arguments={"a": 1, "b": 2})

    assert ask(arguments={"b": 2, "a": 1}) == first
    assert ask(arguments={"a": 2}) != first
    assert ask(arguments={"a": 1, "b": 2}, about=CampaignFactory()) != first
    run_jobs()
    assert ask(arguments={"a": 1, "b": 2}) != first


@pytest.mark.parametrize("is_tried_again", [False, True])
def test_a_job_of_a_clock_that_was_ahead_does_not_wait_until_then(kind, is_tried_again):
    later = timezone.now() + timedelta(days=365)
    job = ask(at=later)
    if is_tried_again:
        leases.try_again(job=leases.take(at=later), reason="Lost.", at=later)

    assert [done.pk for done in run_jobs()] == [job.pk]


@pytest.mark.parametrize("is_doubted", [False, True])
def test_a_job_that_died_under_a_clock_that_was_ahead_is_taken_up(kind, is_doubted):
    later = NOON + timedelta(days=365)
    job = ask(at=NOON)
    leases.take(at=later)
    if is_doubted:
        assert leases.take(at=later + leases.LEASE) is None

    leases.take(at=NOON)

    assert leases.take(at=NOON + leases.DOUBT) == job or is_doubted
    job.refresh_from_db()
    assert job.attempts == 2


def test_a_job_waits_between_two_attempts(kind):
    ask(at=NOON)
    for attempt in range(1, leases.MOST_ATTEMPTS):
        at = NOON + timedelta(hours=attempt)
        leases.try_again(job=leases.take(at=at), reason="Lost.", at=at)

        assert leases.take(at=at) is None
        assert leases.take(at=at + leases.PAUSE * attempt - timedelta(seconds=1)) is None


def test_an_unknown_kind_is_refused():
    with pytest.raises(UnknownKind, match="no jobs of the kind 'nothing'"):
        ask(kind="nothing")


def test_a_kind_is_registered_once(kind):
    with pytest.raises(ValueError, match="registered already"):
        kinds.register(JobKind("try", "Other", lambda work: Result()))


def test_a_job_fails_with_the_sentence_of_its_work(kind):
    def refuse(work: Work) -> Result:
        raise JobFailed("The folder is empty.")

    kind(refuse)
    ask()

    (job,) = run_jobs()

    assert (job.status, job.error) == (JobStatus.FAILED, "The folder is empty.")


def test_an_unexpected_error_fails_the_job_in_one_line(kind):
    def break_down(work: Work) -> Result:
        raise KeyError("colour")

    kind(break_down)
    ask()

    (job,) = run_jobs()

    assert job.status == JobStatus.FAILED
    assert job.error == "An unexpected error: KeyError: 'colour'"


def test_a_lost_database_connection_is_tried_again_later_and_not_for_ever(kind):
    def lose(work: Work) -> Result:
        raise OperationalError("connection lost")

    kind(lose)
    ask()

    for attempt in (1, 2):
        (job,) = run_jobs()
        assert (job.status, job.attempts) == (JobStatus.WAITING, attempt)
        assert job.due_at > timezone.now()
        Job.objects.update(due_at=NOON)
    (job,) = run_jobs()
    assert job.status == JobStatus.FAILED
    assert job.error == "The database failed: connection lost. It was tried 3 times."


def test_work_that_met_a_passing_failure_is_tried_again_and_says_why(kind):
    failures = ["The server is busy."]

    def work_at_last(work: Work) -> Result:
        work.step("Asking")
        if failures:
            raise JobInterrupted(failures.pop())
        return Result("Done.")

    kind(work_at_last)
    ask()

    (job,) = run_jobs()

    assert (job.status, job.attempts, job.step) == (JobStatus.WAITING, 1, "The server is busy.")
    assert job.due_at > timezone.now()
    assert lines_of(job) == ["Asking", "The server is busy. It is tried again."]
    Job.objects.update(due_at=NOON)
    (job,) = run_jobs()
    assert (job.status, job.attempts) == (JobStatus.DONE, 2)


def test_a_stopped_worker_gives_its_job_back_and_the_attempt_does_not_count(kind):
    def stop(work: Work) -> Result:
        raise WorkerStopped

    kind(stop)
    job = ask()

    with pytest.raises(WorkerStopped):
        run_jobs()

    job.refresh_from_db()
    assert (job.status, job.attempts, job.run) == (JobStatus.WAITING, 0, None)


def test_a_killed_workers_job_is_taken_by_another_only_after_a_doubt(kind):
    job = ask(at=NOON)
    first = leases.take(at=NOON)
    ended = NOON + leases.LEASE

    assert leases.take(at=ended - timedelta(seconds=1)) is None
    assert leases.take(at=ended) is None  # doubts it
    assert leases.take(at=ended + leases.DOUBT - timedelta(seconds=1)) is None
    second = leases.take(at=ended + leases.DOUBT)

    assert first == second == job
    assert (second.attempts, second.run == first.run) == (2, False)
    assert "The worker process stopped unexpectedly. It is tried again." in lines_of(job)


def test_a_worker_that_is_doubted_and_answers_keeps_its_job(kind):
    ask(at=NOON)
    first = leases.take(at=NOON)
    ended = NOON + leases.LEASE
    leases.take(at=ended)

    assert leases.renew(job=first, news=Work(first).take_news(), at=ended) is False

    assert leases.take(at=ended + leases.DOUBT - timedelta(seconds=1)) is None
    first.refresh_from_db()
    assert (first.status, first.doubted_at) == (JobStatus.RUNNING, None)


def test_a_job_whose_workers_die_again_and_again_fails(kind):
    job = ask(at=NOON)
    at = NOON
    for _ in range(3):
        leases.take(at=at)
        at += leases.LEASE
        leases.take(at=at)
        at += leases.DOUBT

    assert leases.take(at=at) is None

    job.refresh_from_db()
    assert job.status == JobStatus.FAILED
    assert job.error == "The worker process stopped unexpectedly. It was tried 3 times."


def test_a_worker_that_lost_its_job_changes_nothing_and_stops(kind):
    reached = []

    def outlive(work: Work) -> Result:
        Job.objects.filter(pk=work.job.pk).update(run=work.job.key)
        work.step("Still here")
        reached.append("further")
        return Result("Mine.")

    kind(outlive)
    job = ask()
    taken = leases.take(at=timezone.now())

    run_taken(taken)

    job.refresh_from_db()
    assert reached == []
    assert (job.status, job.result_text, lines_of(job)) == (JobStatus.RUNNING, "", [])
    assert not leases.finish(job=taken, result=Result("Mine."), at=NOON)
    assert not leases.fail(job=taken, error="Mine.", at=NOON)
    assert not leases.stop_cancelled(job=taken, at=NOON)
    assert not leases.try_again(job=taken, reason="Mine.", at=NOON)
    assert not leases.give_back(job=taken, at=NOON)


def test_a_job_that_waits_is_cancelled_at_once(kind):
    ran = []
    kind(lambda work: ran.append(work) or Result())
    job, user = ask(), UserFactory()

    cancel_job(job=job, user=user, at=NOON)

    assert run_jobs() == ran == []
    assert (job.status, job.cancel_asked_by, job.ended_at) == (JobStatus.CANCELLED, user, NOON)


def test_a_running_job_is_cancelled_between_two_batches(kind):
    batches = []

    def work_in_batches(work: Work) -> Result:
        for number in work.each(range(10)):
            batches.append(number)
            if number == 2:
                cancel_job(job=work.job, user=None, at=timezone.now())
        return Result()

    kind(work_in_batches)
    ask()

    (job,) = run_jobs()

    assert job.status == JobStatus.CANCELLED
    assert batches == [0, 1, 2]
    assert lines_of(job)[-1] == "Cancelled."


def test_cancelling_twice_changes_nothing_and_an_ended_job_cannot_be_cancelled(kind):
    job = ask(at=NOON)
    leases.take(at=NOON)

    first, second = UserFactory(), UserFactory()
    cancel_job(job=job, user=first, at=NOON)
    cancel_job(job=job, user=second, at=NOON + timedelta(minutes=1))

    assert (job.cancel_asked_by, job.cancel_asked_at) == (first, NOON)
    assert lines_of(job) == ["Cancelling was requested."]
    with pytest.raises(JobRefused, match="is being cancelled"):
        ask()
    leases.stop_cancelled(job=Job.objects.get(), at=NOON)
    with pytest.raises(JobRefused, match="has ended already"):
        cancel_job(job=job, user=first, at=NOON)


def test_a_cancelled_job_whose_worker_dies_is_not_tried_again(kind):
    job = ask(at=NOON)
    leases.take(at=NOON)
    cancel_job(job=job, user=None, at=NOON)
    leases.take(at=NOON + leases.LEASE)

    assert leases.take(at=NOON + leases.LEASE + leases.DOUBT) is None

    job.refresh_from_db()
    assert job.status == JobStatus.CANCELLED


def test_a_failed_job_is_run_again_and_a_done_one_only_if_that_makes_sense(kind):
    def fail_once(work: Work) -> Result:
        if work.job.repeats is None:
            raise DomainError("Not yet.")
        return Result()

    kind(fail_once)
    ask(arguments={"a": 1})
    (failed,) = run_jobs()

    again = run_again(job=failed, user=None, at=NOON)

    assert run_again(job=failed, user=None, at=NOON) == again
    assert (again.repeats, again.arguments) == (failed, {"a": 1})
    with pytest.raises(JobRefused, match="not ended yet"):
        run_again(job=again, user=None, at=NOON)
    run_jobs()
    again.refresh_from_db()
    assert again.status == JobStatus.DONE
    with pytest.raises(JobRefused, match="This work is done"):
        run_again(job=again, user=None, at=NOON)
    kind(is_repeatable=True)
    assert run_again(job=again, user=None, at=NOON).repeats == again


@pytest.mark.django_db(transaction=True)
def test_workers_that_look_at_once_never_take_the_same_job(kind):
    jobs = {ask(at=NOON, arguments={"number": number}).pk for number in range(3)}

    taken = at_once(lambda _: leases.take(at=NOON), range(8))

    keys = [job.pk for job in taken if job is not None]
    # On PostgreSQL a worker passes over a row that another one is taking.
    assert len(keys) == len(set(keys)) == 3
    assert set(keys) == jobs


@pytest.mark.django_db(transaction=True)
def test_workers_that_find_a_dead_one_at_once_take_its_job_once(kind):
    ask(at=NOON)
    leases.take(at=NOON)
    leases.take(at=NOON + leases.LEASE)

    at = NOON + leases.LEASE + leases.DOUBT
    taken = at_once(lambda _: leases.take(at=at), range(6))

    assert len([job for job in taken if job is not None]) <= 1
    job = Job.objects.get()
    assert job.attempts + (job.status == JobStatus.WAITING) == 2


@pytest.mark.django_db(transaction=True)
def test_requests_for_the_same_work_at_once_make_one_job(kind):
    jobs = at_once(lambda _: ask(at=NOON), range(6))

    assert len({job.pk for job in jobs}) == Job.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_job_is_cancelled_or_taken_but_never_both_unnoticed(kind):
    job = ask(at=NOON)

    def act(number):
        if number % 2:
            return leases.take(at=NOON)
        return cancel_job(job=Job.objects.get(), user=None, at=NOON)

    at_once(act, range(2))

    job.refresh_from_db()
    assert job.cancel_asked_at == NOON
    assert job.status in {JobStatus.CANCELLED, JobStatus.RUNNING}


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_job_says_what_it_did_until_it_stopped(kind, monkeypatch):
    monkeypatch.setattr("background.jobs.runner.RENEWED_EVERY", timedelta(milliseconds=100))

    def publish(work: Work) -> Result:
        cancel_job(job=work.job, user=None, at=timezone.now())
        work.cancelled.wait(timeout=60)
        work.log("The campaign is running.")
        work.check()
        return Result()

    kind(publish)
    ask()

    (job,) = run_jobs()

    assert job.status == JobStatus.CANCELLED
    assert lines_of(job)[-2:] == ["The campaign is running.", "Cancelled."]


@pytest.mark.django_db(transaction=True)
def test_the_thread_stores_progress_while_the_work_is_busy(kind, monkeypatch):
    monkeypatch.setattr("background.jobs.runner.RENEWED_EVERY", timedelta(milliseconds=10))

    def wait_to_be_seen(work: Work) -> Result:
        work.step("Waiting to be seen", total=5)
        work.progress(2)
        while not Job.objects.filter(step="Waiting to be seen", done=2, total=5).exists():
            pass
        cancel_job(job=work.job, user=None, at=timezone.now())
        while True:
            work.check()

    kind(wait_to_be_seen)
    ask()

    job = run_next()

    assert job.status == JobStatus.CANCELLED
    assert lines_of(job)[0] == "Waiting to be seen"
