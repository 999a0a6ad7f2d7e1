"""Celery tasks of this app. Each is safe to repeat."""

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from annotate.jobs.runner import run_next
from annotate.models import Job
from annotate.notices.sending import send_due
from annotate.notices.sweeping import sweep
from annotate.services import images
from annotate.site.background import PatientTask, hand_on


@shared_task(base=PatientTask)
def make_copies() -> int:
    """Make the missing copies of image files; return the number of images."""
    return sum(not reason for _, reason in images.make_copies())


@shared_task(base=PatientTask)
def work_next() -> None:
    """Run one job, and queue this task again if others wait.

    Celery beat runs this task every minute, for jobs whose task or worker was lost.
    """
    if run_next() is not None and Job.objects.waiting(timezone.now()).exists():
        hand_on(work_next)


@shared_task(base=PatientTask)
def send_notices() -> None:
    """Find what people are to be told, and send what is due. Celery beat runs this each minute."""
    sweep(at=timezone.now())
    for _ in send_due():
        pass


def announce_job() -> None:
    """Let a Celery worker start the job that was requested. Without a broker, `work_jobs` finds it,
    and if the broker does not answer, Celery beat does."""
    if not settings.CELERY_TASK_ALWAYS_EAGER:
        hand_on(work_next)
