"""Delete old rows: a function for large tables, and the retention rules of this app.

`hits.services.retention` lists and runs the rules of all apps.
"""

from datetime import datetime
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import models

BATCH = 1000


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
