"""Delete old rows: a function for large tables, and the retention rules of this app.

`hits.services.retention` lists and runs the rules of all apps.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import models
from django.db.models import Q

from annotate.models import CampaignStatus, Failure, Job, Notice

BATCH = 1000
JOBS_ARE_KEPT = timedelta(days=180)
# Archives can be made again from their release.
ARCHIVES_ARE_KEPT = timedelta(days=30)
NOTICES_ARE_KEPT = timedelta(days=365)


def delete_in_batches(rows: models.QuerySet[Any], *, size: int = BATCH) -> int:
    """Delete the rows, lowest key first; return their number.

    Each batch is one transaction, so other writers never wait for the whole deletion.
    """
    deleted = 0
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:size]):
        rows.model._base_manager.filter(pk__in=keys).delete()
        deleted += len(keys)
    return deleted


def delete_expired_sessions(*, at: datetime) -> int:
    """Delete the sessions that have expired at `at`; return their number."""
    return delete_in_batches(Session.objects.filter(expire_date__lt=at))


def delete_old_attempts(*, at: datetime) -> int:
    """Delete failed sign-ins that no longer count towards a lock; return their number."""
    old = AccessAttempt.objects.filter(attempt_time__lt=at - settings.AXES_COOLOFF_TIME)
    return delete_in_batches(old)


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


def delete_old_notices(*, at: datetime) -> int:
    """Delete notices that are over or single events, and older than NOTICES_ARE_KEPT; return their
    number. Those of states that last are kept, so that they are not told again."""
    ended = Q(over_at__isnull=False) | Q(campaign__status=CampaignStatus.FINISHED)
    old = Notice.objects.filter(ended, noticed_at__lt=at - NOTICES_ARE_KEPT)
    return delete_in_batches(old)
