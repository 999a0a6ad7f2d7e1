"""Request, cancel and repeat jobs, and delete old ones."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from accounts.models import Team
from background.failures import solve_failure
from background.jobs.work import UnknownKind, kind_named
from background.models import Failure, FailureSource, Job, JobLine, JobStatus
from corpora.errors import DomainError
from shared.database.transactions import delete_in_batches

# A rival request can end between the failed insert and the read; not so often in a row.
TRIES = 5


class JobRefused(DomainError):
    """The job cannot be requested, cancelled or run again now."""


@transaction.atomic
def request_job(
    *,
    kind: str,
    arguments: Mapping[str, Any],
    user: User | None,
    at: datetime,
    about: Any = None,
    team: Team | None = None,
    repeats: Job | None = None,
) -> Job:
    """Store a job for a worker process, and return it. It belongs to its subject's team.

    If the same work waits or runs already, this job is returned. Raises UnknownKind, and JobRefused
    if the same work is being cancelled.
    """
    job_kind = kind_named(kind)
    team = about.team if about else team
    values = {"kind": kind, "fingerprint": fingerprint_of(arguments, about, team), "team": team}
    for _ in range(TRIES):
        if (same := Job.objects.unfinished().filter(**values).first()) is not None:
            if same.cancel_asked_at is not None:
                raise JobRefused(
                    f"“{same}” is being cancelled. Request it again when that has ended."
                )
            return same
        try:
            with transaction.atomic():
                return Job.objects.create(
                    **values,
                    title=job_kind.title_of(arguments, about),
                    arguments=dict(arguments),
                    about=about,
                    asked_by=user,
                    asked_at=at,
                    due_at=at,
                    repeats=repeats,
                )
        except IntegrityError:
            continue
    raise JobRefused("The same work is requested again and again. Wait until it has ended.")


def fingerprint_of(arguments: Mapping[str, Any], about: Any, team: Team | None) -> str:
    """A digest that is equal for two requests of the same work of a kind."""
    rows = [(row._meta.label, row.pk) if row else None for row in (about, team)]
    same = [*rows, arguments]
    return hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()


@transaction.atomic
def cancel_job(*, job: Job, user: User | None, at: datetime) -> Job:
    """Cancel a job that waits at once, and one that runs when its work checks the next time.

    Asking twice changes nothing. Raises JobRefused if the job has ended.
    """
    asked = {"cancel_asked_at": at, "cancel_asked_by": user}
    rows = Job.objects.filter(pk=job.pk)
    # Whether it waits or runs is decided by the update, so a worker that takes it meanwhile is
    # either too late or told to stop.
    if rows.filter(status=JobStatus.WAITING).update(
        status=JobStatus.CANCELLED, ended_at=at, **asked
    ):
        was_started = rows.filter(started_at__isnull=False).exists()
        how = ". What it has done stays." if was_started else " before it was started."
        JobLine.objects.create(job=job, at=at, text=f"Cancelled{how}")
    elif rows.filter(status=JobStatus.RUNNING, cancel_asked_at=None).update(**asked):
        JobLine.objects.create(job=job, at=at, text="Cancelling was requested.")
    elif rows.ended().exists():
        raise JobRefused("The job has ended already.")
    job.refresh_from_db()
    return job


@transaction.atomic
def run_again(*, job: Job, user: User | None, at: datetime) -> Job:
    """Request the same work again; raises JobRefused if it has not ended, or if it is done and
    doing it again makes no sense, and UnknownKind."""
    kind_named(job.kind)
    if not is_again_possible(job):
        raise JobRefused(
            "The job has not ended yet." if job.is_unfinished else "This work is done."
        )
    solve_failure(source=FailureSource.JOB, subject=str(job.key), at=at)
    return request_job(
        kind=job.kind,
        arguments=job.arguments,
        user=user,
        at=at,
        about=job.about,
        team=job.team,
        repeats=job,
    )


def is_again_possible(job: Job) -> bool:
    """Whether the job can be run again."""
    try:
        kind = kind_named(job.kind)
    except UnknownKind:  # Such as after a change of the site's version.
        return False
    return kind.is_repeatable if job.status == JobStatus.DONE else not job.is_unfinished


JOBS_ARE_KEPT = timedelta(days=180)
# Archives can be made again from their release.
ARCHIVES_ARE_KEPT = timedelta(days=30)


def delete_old_jobs(*, at: datetime) -> int:
    """Delete jobs that ended more than JOBS_ARE_KEPT ago, with the files that they wrote; return
    their number."""
    old = Job.objects.ended().filter(ended_at__lt=at - JOBS_ARE_KEPT)
    for path in old.exclude(result_file="").values_list("result_file", flat=True):
        (Path(settings.MEDIA_ROOT) / path).unlink(missing_ok=True)
    return delete_in_batches(old)


def delete_old_failures(*, at: datetime) -> int:
    """Delete failures that ended more than JOBS_ARE_KEPT ago; return their number."""
    return delete_in_batches(Failure.objects.filter(ended_at__lt=at - JOBS_ARE_KEPT))


def delete_old_archives(*, at: datetime) -> int:
    """Delete the files that jobs wrote more than ARCHIVES_ARE_KEPT ago; return their number. The
    jobs are kept."""
    old = Job.objects.ended().filter(ended_at__lt=at - ARCHIVES_ARE_KEPT).exclude(result_file="")
    deleted = 0
    for job in old:
        (Path(settings.MEDIA_ROOT) / job.result_file).unlink(missing_ok=True)
        deleted += Job.objects.filter(pk=job.pk).update(result_file="")
    return deleted
