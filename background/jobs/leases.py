"""How a worker notes a job's state: taken, still running, ended.

Each write is guarded by the lease, so a worker that has lost it changes nothing. Several workers on
several machines may do this at the same time.
"""

import uuid
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q

from background.failures import note_failure, solve_failure
from background.jobs.requests import fingerprint_of
from background.jobs.work import News, Result, UnknownKind, kind_named
from background.models import (
    LONGEST_LEASE,
    FailureSource,
    Job,
    JobLine,
    JobQuerySet,
    JobStatus,
)
from shared.database.queues import claim, held

# A worker renews its lease every RENEWED_EVERY. On SQLite it cannot during its own long
# transaction. So when a lease has ended, other workers wait for DOUBT before they take the job.
LEASE = timedelta(seconds=settings.JOB_LEASE_SECONDS)
RENEWED_EVERY = timedelta(seconds=2)
DOUBT = LEASE * 3 / 4
# How often a job is started if workers die or the database fails.
MOST_ATTEMPTS = 3
# Before a further attempt after a failure of the database, multiplied by the number of attempts.
PAUSE = timedelta(seconds=15)
NO_LEASE: dict[str, Any] = {"run": None, "doubted_at": None}
# Before a postponed job is started again.
POSTPONED_BY = timedelta(seconds=3)
# Columns that are equal in jobs for the same work, besides the arguments.
SAME_WORK = ("kind", "about_type", "about_id", "team")
# What a further attempt begins with.
ANEW: dict[str, Any] = {"step": "", "done": 0, "total": None}


def take(*, at: datetime, among: JobQuerySet | None = None) -> Job | None:
    """Give this worker a job that waits, or one whose worker has died; None if there is none.

    `among` limits the jobs.
    """
    _end_silent(at)
    rows = Job.objects.all() if among is None else among
    return claim(
        rows.waiting(at).select_related("asked_by"),
        lambda job: {
            "status": JobStatus.RUNNING,
            "due_at": at + LEASE,
            "heartbeat_at": at,
            "started_at": at,
            **_shared_no_more(job),
            **ANEW,
        },
    )


def _shared_no_more(job: Job) -> dict[str, Any]:
    """Its own fingerprint for a started job that later requests must not join."""
    try:
        joins = kind_named(job.kind).joins_running
    except UnknownKind:
        joins = True
    return {} if joins else {"fingerprint": uuid.uuid4().hex}


def _end_silent(at: datetime) -> None:
    """Doubt the jobs whose lease has ended. Of those doubted for long, end the attempt."""
    Job.objects.silent(at).filter(doubted_at=None).update(doubted_at=at)
    with transaction.atomic():
        is_doubted = Q(doubted_at__lte=at - DOUBT) | Q(doubted_at__gt=at + LONGEST_LEASE)
        dead = Job.objects.silent(at).filter(is_doubted)
        for job in dead.select_for_update(of=("self",), skip_locked=True):
            reason = "The worker process stopped unexpectedly."
            _end_attempt(job, reason, at=at, due_at=at)


def _end_attempt(job: Job, reason: str, *, at: datetime, due_at: datetime) -> None:
    """Let the job wait for a further attempt, or end it. Its row is locked."""
    rows = Job.objects.filter(pk=job.pk)
    if job.cancel_asked_at is not None:
        rows.update(status=JobStatus.CANCELLED, ended_at=at, **NO_LEASE)
        _append(job, [(at, f"{reason} The job is cancelled.")])
    elif job.attempts >= MOST_ATTEMPTS:
        error = f"{reason} It was tried {job.attempts} times."
        rows.update(status=JobStatus.FAILED, ended_at=at, error=error, **NO_LEASE)
        _append(job, [(at, error)])
        _note_failed(job, error, at)
    else:
        values = {**ANEW, "step": reason[:200]}
        rows.update(status=JobStatus.WAITING, due_at=due_at, **NO_LEASE, **values)
        _share_again(job)
        _append(job, [(at, f"{reason} It is tried again.")])


def _share_again(job: Job) -> None:
    """Let later requests join a job that waits again, unless they join another one."""
    with suppress(IntegrityError), transaction.atomic():
        fingerprint = fingerprint_of(job.arguments, job.about, job.team)
        Job.objects.filter(pk=job.pk).update(fingerprint=fingerprint)


def _append(job: Job, lines: list[tuple[datetime, str]]) -> None:
    JobLine.objects.bulk_create(JobLine(job=job, at=at, text=text) for at, text in lines)


@transaction.atomic
def renew(*, job: Job, news: News, at: datetime) -> bool | None:
    """Store the news and renew the lease. Return whether the job is to be cancelled; None if this
    worker has lost the job."""
    values: dict[str, Any] = {"due_at": at + LEASE, "doubted_at": None, "heartbeat_at": at}
    if news.step is not None:
        values["step"] = news.step
    if news.done is not None:
        values |= {"done": news.done, "total": news.total}
    if not held(job).update(**values):
        return None
    _append(job, news.lines)
    return held(job).filter(cancel_asked_at__isnull=False).exists()


def hold(*, job: Job) -> bool:
    """Lock the job's row until the end of the transaction; return whether this worker holds it."""
    return held(job).select_for_update(no_key=True, of=("self",)).first() is not None


@transaction.atomic
def finish(*, job: Job, result: Result, at: datetime) -> bool:
    """End the job with its result, and the failures of earlier jobs for the same work; return False
    if this worker has lost it."""
    has_total = Job.objects.filter(pk=job.pk, total__isnull=False).exists()
    values: dict[str, Any] = {"done": F("total")} if has_total else {}
    is_ended = _end(
        job,
        JobStatus.DONE,
        result.text or "Done.",
        at,
        result_text=result.text,
        result_url=result.url,
        result_file=result.file,
        **values,
    )
    if is_ended:
        resent = kind_named(job.kind).resent
        same = {name: getattr(job, name) for name in SAME_WORK}
        failed = Job.objects.filter(status=JobStatus.FAILED, **same)
        for key, arguments in failed.values_list("key", "arguments"):
            if {**arguments, resent: ""} == {**job.arguments, resent: ""}:
                solve_failure(source=FailureSource.JOB, subject=str(key), at=at)
    return is_ended


@transaction.atomic
def fail(*, job: Job, error: str, at: datetime) -> bool:
    """End the job as failed, with the reason; return False if this worker has lost it."""
    is_ended = _end(job, JobStatus.FAILED, error, at, error=error)
    if is_ended:
        _note_failed(job, error, at)
    return is_ended


def _note_failed(job: Job, error: str, at: datetime) -> None:
    note_failure(
        source=FailureSource.JOB,
        subject=str(job.key),
        title=job.title,
        error=error,
        at=at,
        team=job.team,
        about=job.about,
        path=job.get_absolute_url(),
    )


@transaction.atomic
def stop_cancelled(*, job: Job, at: datetime) -> bool:
    """End the job as cancelled; return False if this worker has lost it."""
    return _end(job, JobStatus.CANCELLED, "Cancelled.", at)


def _end(job: Job, status: JobStatus, line: str, at: datetime, **values: Any) -> bool:
    if not held(job).update(status=status, ended_at=at, **NO_LEASE, **values):
        return False
    _append(job, [(at, line)])
    return True


@transaction.atomic
def try_again(*, job: Job, reason: str, at: datetime) -> bool:
    """End the attempt because of a failure that may pass, such as a lost connection; the job waits
    for the next attempt, longer each time, or fails after the last one."""
    locked = held(job).select_for_update(of=("self",)).first()
    if locked is None:
        return False
    _end_attempt(locked, reason, at=at, due_at=at + PAUSE * locked.attempts)
    return True


@transaction.atomic
def give_back(*, job: Job, at: datetime) -> bool:
    """Let the job wait for another worker, because this one is stopped. The attempt does not
    count."""
    line = "The worker process was stopped. Another one continues."
    return _wait_again(job, line, at=at, due_at=at, **ANEW)


@transaction.atomic
def postpone(*, job: Job, reason: str, at: datetime) -> None:
    """Let the job wait for a short time, for the reason given. The attempt does not count."""
    values = {**ANEW, "step": reason[:200]}
    _wait_again(job, reason, at=at, due_at=at + POSTPONED_BY, **values)


def _wait_again(job: Job, line: str, *, at: datetime, due_at: datetime, **values: Any) -> bool:
    locked = held(job).select_for_update(of=("self",)).first()
    if locked is None:
        return False
    if locked.cancel_asked_at is not None:
        return _end(job, JobStatus.CANCELLED, "Cancelled.", at)
    Job.objects.filter(pk=job.pk).update(
        status=JobStatus.WAITING, due_at=due_at, attempts=F("attempts") - 1, **NO_LEASE, **values
    )
    _share_again(job)
    last = job.lines.order_by("pk").last()
    if last is None or last.text != line:
        _append(job, [(at, line)])
    return True
