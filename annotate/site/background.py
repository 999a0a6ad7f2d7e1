"""Queue work for Celery workers, and retry it when the database is unavailable."""

import logging
from typing import Any

from celery import Task
from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError

from annotate.errors import one_line

log = logging.getLogger(__name__)


class PatientTask(Task[..., Any]):
    """A task that is retried with growing delays when the database is unavailable."""

    autoretry_for = (InterfaceError, OperationalError)
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


def hand_on(task: Any, *arguments: object, **options: object) -> bool:
    """Queue the task; if the broker is unavailable, log that and return False.

    Callers have stored the work to do, or tell the user that it was not queued.
    """
    try:
        task.delay(*arguments, **options)
    except BrokerError as error:
        log.warning("The broker did not take %s: %s", task.name, one_line(error))
        return False
    return True
