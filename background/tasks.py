"""Celery tasks: queue work for Celery's workers, try it again, and the tasks of this app."""

import logging
from functools import partial
from typing import Any

from celery import Task, shared_task
from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from background.failures import note_failure, solve_failure
from background.jobs.runner import run_waiting
from background.models import FailureSource, Job
from background.notices.sending import send_due
from background.notices.sweeping import sweep
from corpora.errors import DomainError, one_line
from shared.database.connections import drop_lost_connections
from shared.repeater import KNOWN, log_problem

log = logging.getLogger(__name__)

# Errors that are logged in one line.
EXPECTED = (*KNOWN, DomainError)


class PatientTask(Task[..., Any]):
    """A task that is retried with growing delays when the database is unavailable.

    If it fails for good, it is on the page of failures until it succeeds.
    """

    autoretry_for: tuple[type[Exception], ...] = (InterfaceError, OperationalError)
    retry_backoff = 1
    retry_backoff_max = 60
    max_retries = 8

    def retry(self, *args: Any, **options: Any) -> Any:
        error = options.get("exc")
        if self.request.is_eager and error is not None:
            # Without a Celery worker the task runs in the caller, which gets the error at once.
            raise error
        return super().retry(*args, **options)

    def on_retry(self, exc: Exception, *_: Any) -> None:
        log.warning("%s is tried again: %s", self.name, one_line(exc))

    def on_failure(self, exc: Exception, _id: str, args: Any, kwargs: Any, *_: Any) -> None:
        """Store what failed. Without a database there is the log only."""
        # The text of a database error contains values of its rows, perhaps a worker's id.
        detail = "" if isinstance(exc, Error) else f": {one_line(exc)}"
        try:
            note_failure(
                source=FailureSource.TASK,
                subject=_subject(self.name, args, kwargs),
                title=_title(self.name, args),
                error=f"{type(exc).__name__}{detail}",
                at=timezone.now(),
                arguments={"task": self.name, "args": list(args), "kwargs": dict(kwargs)},
            )
        except Error as error:
            log.warning("The failure of %s was not stored: %s", self.name, one_line(error))

    def on_success(self, _value: Any, _id: str, args: Any, kwargs: Any) -> None:
        subject = _subject(self.name, args, kwargs)
        try:
            solve_failure(source=FailureSource.TASK, subject=subject, at=timezone.now())
        except Error as error:
            log.warning("The failure of %s was not ended: %s", self.name, one_line(error))


def _subject(name: str, args: Any, kwargs: Any) -> str:
    given = [*map(str, args), *(f"{key}={value}" for key, value in sorted(kwargs.items()))]
    return f"{name}({', '.join(given)})"[:200]


def _title(name: str, args: Any) -> str:
    words = name.rpartition(".")[2].replace("_", " ")
    return " ".join([words.capitalize(), *map(str, args)])


def hand_on(task: Any, *arguments: object, within: float | None = None, **options: object) -> bool:
    """Queue the task; if the broker is unavailable, log that and return False.

    The task is dropped if no worker takes it `within` this many seconds. Callers have stored the
    work to do, or tell the user that it was not queued. Without a broker, the task is done here.
    """
    if settings.CELERY_TASK_ALWAYS_EAGER:
        return _is_done_here(task, *arguments, **options)
    try:
        if within is None:
            task.delay(*arguments, **options)
        else:
            task.apply_async(arguments, options, expires=within)
    except BrokerError as error:
        log.warning("The broker did not take %s: %s", task.name, one_line(error))
        return False
    return True


def pass_on(task: Any, *arguments: object, within: float | None = None) -> bool:
    """Queue the task as `hand_on` does; without a broker, return False: the clock starts it."""
    return not settings.CELERY_TASK_ALWAYS_EAGER and hand_on(task, *arguments, within=within)


def _is_done_here(task: Any, *arguments: object, **options: object) -> bool:
    """Do the task in this process; return whether it succeeded."""
    try:
        task(*arguments, **options)
    except Exception as error:
        drop_lost_connections()
        log_problem(f"{task.name} failed", error, EXPECTED)
        return False
    return True


@shared_task(base=PatientTask)
def work_next() -> None:
    """Run one job, and let another task run those that wait, behind what else does."""
    for _ in run_waiting():
        if not Job.objects.waiting(timezone.now()).exists() or pass_on(work_next):
            return


@shared_task(base=PatientTask)
def find_notices() -> None:
    """Find and store new notices."""
    sweep(at=timezone.now())


@shared_task(base=PatientTask)
def send_notices() -> None:
    """Send notices that are due."""
    for _ in send_due():
        pass


def announce_job() -> None:
    """Let a Celery worker start the job that was requested, once its transaction has ended. Without
    a broker, or if it does not answer, the clock does."""
    transaction.on_commit(partial(pass_on, work_next))
