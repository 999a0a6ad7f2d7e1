"""What runs behind a page's back or by the clock; each is safe to repeat."""

from celery import shared_task

from annotate.services import images
from annotate.site.background import PatientTask


@shared_task(base=PatientTask)
def make_copies() -> int:
    """Make the copies of image files that are missing, and return of how many images."""
    return sum(not reason for _, reason in images.make_copies())
