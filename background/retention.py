"""Delete old rows of this app."""

from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings

from background.models import Failure, Job
from shared.database.deletion import delete_in_batches

JOBS_ARE_KEPT = timedelta(days=180)
# Archives can be made again from their release.
ARCHIVES_ARE_KEPT = timedelta(days=30)


def delete_old_jobs(*, at: datetime) -> int:
    """Delete jobs that ended more than JOBS_ARE_KEPT ago, with the files that they wrote; return
    their number."""
    old = Job.objects.ended().filter(ended_at__lt=at - JOBS_ARE_KEPT)
    for path in old.exclude(result_file="").values_list("result_file", flat=True):
        (Path(settings.MEDIA_ROOT) / path).unlink(missing_ok=True)
    return delete_in_batches(old)


def delete_old_failures(*, at: datetime) -> int:
    """Delete failures that ended more than JOBS_ARE_KEPT ago; return their number."""
    return delete_in_batches(Failure.objects.filter(ended_at__lt=at - JOBS_ARE_KEPT))


def delete_old_archives(*, at: datetime) -> int:
    """Delete the files that jobs wrote more than ARCHIVES_ARE_KEPT ago; return their number. The
    jobs are kept."""
    old = Job.objects.ended().filter(ended_at__lt=at - ARCHIVES_ARE_KEPT).exclude(result_file="")
    deleted = 0
    for job in old:
        (Path(settings.MEDIA_ROOT) / job.result_file).unlink(missing_ok=True)
        deleted += Job.objects.filter(pk=job.pk).update(result_file="")
    return deleted
