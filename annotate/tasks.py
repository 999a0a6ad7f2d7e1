"""Celery tasks of this app. Each is safe to repeat."""

from celery import shared_task

from annotate.services import images
from background.tasks import PatientTask
from shared.database.locks import process_lock


@shared_task(base=PatientTask)
def make_copies() -> int:
    """Make the missing copies of image files; return the number of images.

    If there are many, this takes longer than until the clock starts it again.
    """
    with process_lock("copies") as is_held:
        return sum(not reason for _, reason in images.make_copies()) if is_held else 0
