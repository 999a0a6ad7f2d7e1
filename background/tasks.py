"""Celery tasks of this app. Each is safe to repeat."""

from functools import partial

from celery import shared_task
from django.db import transaction
from django.utils import timezone

from background.celery_tasks import PatientTask, pass_on
from background.jobs.runner import run_waiting
from background.models import Job
from background.notices.sending import send_due
from background.notices.sweeping import sweep


@shared_task(base=PatientTask)
def work_next() -> None:
    """Run one job, and let another task run those that wait, behind what else does."""
    for _ in run_waiting():
        if not Job.objects.waiting(timezone.now()).exists() or pass_on(work_next):
            return


@shared_task(base=PatientTask)
def find_notices() -> None:
    """Find what people are to be told."""
    sweep(at=timezone.now())


@shared_task(base=PatientTask)
def send_notices() -> None:
    """Send what people are to be told."""
    for _ in send_due():
        pass


def announce_job() -> None:
    """Let a Celery worker start the job that was requested, once its transaction has ended. Without
    a broker, or if it does not answer, the clock does."""
    transaction.on_commit(partial(pass_on, work_next))
