"""Run jobs in this process, one after the other."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import Event, Thread

from django.db import Error, InterfaceError, OperationalError, connection, connections
from django.utils import timezone

from background.jobs.leases import (
    RENEWED_EVERY,
    fail,
    finish,
    give_back,
    postpone,
    renew,
    stop_cancelled,
    take,
    try_again,
)
from background.jobs.work import (
    JobCancelled,
    JobInterrupted,
    JobPostponed,
    LeaseLost,
    Work,
    WorkerStopped,
    kind_named,
)
from background.models import Job, JobQuerySet
from corpora.errors import DomainError, one_line
from shared.database.connections import drop_lost_connections

log = logging.getLogger(__name__)


def run_waiting(*, among: JobQuerySet | None = None) -> Iterator[Job]:
    """Run one job after the other until none is due; yield each afterwards. `among` limits them."""
    while (job := run_next(among=among)) is not None:
        yield job


def run_next(*, among: JobQuerySet | None = None) -> Job | None:
    """Run the next job that is due, and return it; None if there is none."""
    job = take(at=timezone.now(), among=among)
    if job is not None:
        run_taken(job)
        job.refresh_from_db()
    return job


def run_taken(job: Job) -> None:
    """Run a job that was taken, and store how it ended. Raises WorkerStopped.

    A thread renews the lease and stores the progress. Inside a transaction, as in tests, it does
    not: its connection would not see the job's row.
    """
    is_alone = connection.in_atomic_block
    work = Work(job, store=store_news if is_alone else None)
    try:
        with nullcontext() if is_alone else _renewing(work):
            result = kind_named(job.kind).work(work)
        store_news(work)
        finish(job=job, result=result, at=timezone.now())
    except LeaseLost:
        log.warning("Job %s: another worker has taken it.", job.key)
    except JobCancelled:
        store_news(work)
        stop_cancelled(job=job, at=timezone.now())
    except WorkerStopped:
        give_back(job=job, at=timezone.now())
        raise
    except DomainError as error:
        store_news(work)
        _end_early(job, error)
    except (InterfaceError, OperationalError) as error:
        log.warning("Job %s: the database failed: %s", job.key, one_line(error))
        drop_lost_connections()
        reason = f"The database failed: {one_line(error)}."
        try_again(job=job, reason=reason, at=timezone.now())
    except Exception as error:
        # The text of a database error contains values of its rows, perhaps a worker's id.
        text = type(error).__name__ if isinstance(error, Error) else one_line(error)
        traceback = None if isinstance(error, Error) else error
        log.error("Job %s failed: %s", job.key, text, exc_info=traceback)
        store_news(work)
        error_text = f"An unexpected error: {type(error).__name__}: {text}"
        fail(job=job, error=error_text, at=timezone.now())


def _end_early(job: Job, error: DomainError) -> None:
    """End the attempt of a job whose work has said why it cannot be done, or not now."""
    at = timezone.now()
    if isinstance(error, JobPostponed):
        postpone(job=job, reason=str(error), at=at)
    elif isinstance(error, JobInterrupted):
        try_again(job=job, reason=f"{str(error).rstrip('.')}.", at=at)
    else:
        fail(job=job, error=str(error), at=at)


def store_news(work: Work) -> None:
    """Store the work's news and renew the lease. Tell the work if it is cancelled or lost."""
    news = work.take_news()
    try:
        answer = renew(job=work.job, news=news, at=timezone.now())
    except Error:
        work.put_back(news)
        raise
    if answer is None:
        work.lost.set()
    elif answer:
        work.cancelled.set()


@contextmanager
def _renewing(work: Work) -> Iterator[None]:
    """Renew the lease and store news in a thread until the end of the block."""
    ended = Event()
    thread = Thread(target=_keep_renewing, args=(work, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _keep_renewing(work: Work, ended: Event) -> None:
    try:
        while not ended.wait(RENEWED_EVERY.total_seconds()):
            try:
                store_news(work)
            except Error as error:
                # The lease may end, but nobody takes the job as long as nobody can write.
                log.warning("Job %s: no heartbeat: %s", work.job.key, one_line(error))
                connections.close_all()
            if work.lost.is_set():
                return
    finally:
        connections.close_all()
