"""Celery tasks of this app. Each is safe to repeat."""

import logging

from celery import shared_task

from annotate.errors import DomainError
from annotate.models import Release
from annotate.report.stored import create_report
from annotate.services import images
from annotate.site.background import PatientTask

log = logging.getLogger(__name__)


@shared_task(base=PatientTask)
def make_copies() -> int:
    """Make the missing copies of image files; return the number of images."""
    return sum(not reason for _, reason in images.make_copies())


@shared_task(base=PatientTask)
def make_report(release_pk: int) -> None:
    """Create a release's report, in place of an older one."""
    release = Release.objects.select_related("campaign").get(pk=release_pk)
    try:
        create_report(release)
    except DomainError as error:
        log.warning("report on the release %s: %s", release, error)
