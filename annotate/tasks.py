"""Celery tasks of this app. Each is safe to repeat."""

from celery import shared_task

from annotate.services import images
from annotate.site.background import PatientTask


@shared_task(base=PatientTask)
def make_copies() -> int:
    """Make the missing copies of image files; return the number of images."""
    return sum(not reason for _, reason in images.make_copies())
