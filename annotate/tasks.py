"""What runs behind a page's back or by the clock; each is safe to repeat."""

import logging

from celery import shared_task

from annotate.services import images

logger = logging.getLogger(__name__)


@shared_task
def make_thumbnails() -> int:
    """Make the thumbnails that are missing, and return how many were made."""
    made = 0
    for image, reason in images.make_thumbnails():
        if reason:
            logger.warning("No thumbnail of %s: the file %s.", image.key, reason)
        else:
            made += 1
    return made
