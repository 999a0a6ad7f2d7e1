"""Work that a page or another task leaves to a Celery worker."""

import logging
from typing import Any

from celery import Task
from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError

from annotate.errors import one_line

log = logging.getLogger(__name__)


class PatientTask(Task[..., Any]):
    """A task that is tried again, later each time, where the database does not answer."""

    autoretry_for = (InterfaceError, OperationalError)
    retry_backoff = 1
    retry_backoff_max = 60
    max_retries = 8

    def retry(self, *args: Any, **options: Any) -> Any:
        error = options.get("exc")
        if self.request.is_eager and error is not None:
            # Without a worker the caller waits: it gets the error at once.
            raise error
        return super().retry(*args, **options)

    def on_retry(self, exc: Exception, *_: Any) -> None:
        log.warning("%s is tried again: %s", self.name, one_line(exc))


def hand_on(task: Any, *arguments: object, **options: object) -> bool:
    """Ask a Celery worker for the task. Where the broker does not answer, log that and return
    False; the caller has written down what is due, or tells the person who asked."""
    try:
        task.delay(*arguments, **options)
    except BrokerError as error:
        log.warning("The broker did not take %s: %s", task.name, one_line(error))
        return False
    return True
