"""Worker processes that are killed or stopped while they run a job, as real processes."""

import os
import signal
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connections
from django.utils import timezone

from background.jobs import leases
from background.jobs import work as kinds
from background.jobs.requests import request_job
from background.jobs.work import JobKind, Result, Work
from background.management.commands import work_jobs
from background.models import Job, JobStatus
from tests.jobs import run_jobs
from tests.pauses import Stopped, nothing

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def register(monkeypatch):
    def add(work):
        kinds.kind_named("release")
        monkeypatch.setitem(kinds._kinds, "try", JobKind("try", "Try", work))
        return request_job(kind="try", arguments={}, user=None, at=timezone.now())

    return add


def in_child(action) -> int:
    """Run the action in a child process with its own connection; return how it ended, as
    `os.waitpid` says it."""
    connections.close_all()
    child = os.fork()
    if child == 0:
        try:
            action()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return status


def test_another_worker_takes_up_the_job_of_one_that_was_killed(register):
    parent = os.getpid()

    def work_and_die_once(work: Work) -> Result:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return Result("Done by another.")

    job = register(work_and_die_once)

    status = in_child(run_jobs)

    assert os.WTERMSIG(status) == signal.SIGKILL
    job.refresh_from_db()
    assert (job.status, job.attempts) == (JobStatus.RUNNING, 1)
    assert run_jobs() == []  # its lease has not ended
    Job.objects.update(due_at=timezone.now())
    assert run_jobs() == []  # now it is doubted
    Job.objects.update(doubted_at=timezone.now() - leases.DOUBT)
    (done,) = run_jobs()
    assert (done.status, done.attempts) == (JobStatus.DONE, 2)
    assert done.result_text == "Done by another."


def test_a_worker_that_gets_a_signal_gives_its_job_back(register):
    def wait_for_the_signal(work: Work) -> Result:
        os.kill(os.getpid(), signal.SIGTERM)
        while True:
            work.check()

    job = register(wait_for_the_signal)

    status = in_child(lambda: call_command("work_jobs", watch=0.1, stdout=StringIO()))

    assert status == 0
    job.refresh_from_db()
    assert (job.status, job.attempts, job.run) == (JobStatus.WAITING, 0, None)
    assert [line.text for line in job.lines.all()] == [
        "The worker process was stopped. Another one continues."
    ]


def test_the_command_runs_what_waits_and_says_how_it_ended(register, monkeypatch):
    register(lambda work: Result())
    out = StringIO()

    call_command("work_jobs", stdout=out)

    assert out.getvalue() == "Try: done\n1 job ended.\n"


def test_the_command_continues_after_an_error(register, monkeypatch, pauses):
    job = register(lambda work: Result())
    pauses.actions = [nothing, nothing]
    monkeypatch.setattr(work_jobs.signal, "signal", lambda *_: None)
    fails = [True]

    def take(*, at, among=None):
        if fails.pop() if fails else False:
            raise OSError("disk full")
        return leases.take(at=at)

    monkeypatch.setattr("background.jobs.runner.take", take)

    with pytest.raises(Stopped):
        call_command("work_jobs", watch=5.0, stdout=StringIO())

    job.refresh_from_db()
    assert job.status == JobStatus.DONE
    assert pauses == [5.0, 10.0, 5.0]
