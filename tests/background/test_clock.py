"""The clock's entries without Celery: in threads of one worker process."""

import os
import signal
import threading
from datetime import timedelta
from io import StringIO

import pytest
from celery import current_app
from celery.schedules import crontab
from django.core.management import call_command
from django.db import OperationalError
from django.utils import timezone

from background import clock
from background.jobs import work as kinds
from background.jobs.requests import request_job
from background.jobs.work import JobKind, Result, Work, stopping
from background.models import Job, JobStatus
from background.tasks import hand_on, pass_on
from hits.tasks import sync_campaigns
from tests.factories import NOON, make_campaign
from tests.servers import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def done(monkeypatch):
    """Tasks that replace those of the clock, and count their runs."""
    counts, entries, listed = {}, {}, current_app.conf.beat_schedule

    def put(name, task=lambda: None, schedule=0.01):
        def run():
            task()
            counts[name] = counts.get(name, 0) + 1

        monkeypatch.setitem(current_app.tasks, name, run)
        entries[name] = {"task": name, "schedule": schedule}
        current_app.conf.beat_schedule = entries

    put.counts = counts
    monkeypatch.setattr(clock, "LOOKS_EVERY", 0.01)
    yield put
    current_app.conf.beat_schedule = listed


def test_each_entry_of_the_list_is_a_task_that_exists_and_has_a_thread():
    threads = clock.entries()

    assert [thread.name for thread in threads] == list(current_app.conf.beat_schedule)


def test_a_slow_entry_does_not_delay_the_others(done):
    is_over, came_again = threading.Event(), threading.Event()

    def sync():
        if done.counts.get("sync", 0) >= 2:
            came_again.set()

    done("long", lambda: is_over.wait(PATIENCE))
    done("sync", sync)
    threads = clock.entries()
    for thread in threads:
        thread.start()
    try:
        assert came_again.wait(PATIENCE)
        assert "long" not in done.counts
    finally:
        is_over.set()
        for thread in threads:
            thread.stop()


def test_an_entry_is_due_at_the_start_and_stays_due_until_it_succeeds(done):
    failures = [OperationalError("locked")]

    def fail_once():
        if failures:
            raise failures.pop()

    done("tidy", fail_once, crontab(hour=3, minute=20))
    (thread,) = clock.entries()

    with pytest.raises(OperationalError):
        thread.step()
    thread.step()
    thread.step()

    assert done.counts == {"tidy": 1}


def test_a_clock_that_was_put_back_delays_an_entry_by_no_more_than_its_schedule(done, monkeypatch):
    done("sync", schedule=60)
    (thread,) = clock.entries()
    now = timezone.now()

    def look(at):
        monkeypatch.setattr("django.utils.timezone.now", lambda: at)
        monkeypatch.setattr(current_app, "now", lambda: at)
        thread.step()
        return done.counts["sync"]

    assert look(now) == 1
    put_back = now - timedelta(hours=1)
    assert look(put_back) == 1
    assert look(put_back + timedelta(seconds=61)) == 2


@pytest.fixture
def kind(monkeypatch):
    def add(work):
        kinds.kind_named("release")
        monkeypatch.setitem(kinds._kinds, "try", JobKind("try", "Try", work))
        return request_job(kind="try", arguments={}, user=None, at=NOON)

    return add


def test_a_worker_that_gets_a_signal_gives_back_the_jobs_of_its_threads(kind, done, monkeypatch):
    monkeypatch.setattr("background.management.commands.work_jobs.english.load", lambda: None)
    done("jobs", lambda: current_app.tasks["background.tasks.work_next"]())

    def wait_to_be_stopped(work: Work) -> Result:
        os.kill(os.getpid(), signal.SIGTERM)
        while True:
            work.check()

    # The thread finds it: the main thread looks for jobs only after a long while.
    job = kind(wait_to_be_stopped)
    kept = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    try:
        call_command("work_jobs", watch=PATIENCE, clock=True, stdout=StringIO())
    finally:
        for each, handler in kept.items():
            signal.signal(each, handler)

    job.refresh_from_db()
    assert (job.status, job.attempts, job.run) == (JobStatus.WAITING, 0, None)
    assert not stopping.is_set()


def test_jobs_that_wait_are_done_one_after_the_other_without_a_broker(kind):
    kind(lambda work: Result())
    Job.objects.update(fingerprint="another")
    kind(lambda work: Result())

    current_app.tasks["background.tasks.work_next"]()

    assert [job.status for job in Job.objects.all()] == [JobStatus.DONE] * 2


def test_a_campaign_that_fails_does_not_stop_the_syncs_of_others(monkeypatch, caplog):
    broken, other = make_campaign(tasks=1), make_campaign(tasks=1)
    synced = []

    def reconcile(campaign, **options):
        if campaign == broken:
            raise KeyError("SubmitTime")
        synced.append(campaign)
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr("hits.tasks.reconcile", reconcile)

    sync_campaigns()

    assert synced == [other]
    assert "hits.tasks.sync_campaign failed: KeyError" in caplog.text


def test_a_task_without_a_broker_is_done_here_or_left_to_the_clock():
    calls = []

    assert hand_on(calls.append, 1) is True
    assert pass_on(calls.append, 2) is False
    assert calls == [1]
