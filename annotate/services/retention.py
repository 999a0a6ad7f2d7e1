"""Deleting what is old: a helper for large tables, and the rules for this package's rows.

`hits.services.retention` lists the rules of all packages and runs them.
"""

from datetime import datetime
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import models

BATCH = 1000


def delete_in_batches(rows: models.QuerySet[Any], *, size: int = BATCH) -> int:
    """Delete the rows, oldest key first, and return how many there were. Each batch is one
    transaction, so other writers never wait for the whole table."""
    deleted = 0
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:size]):
        rows.model._base_manager.filter(pk__in=keys).delete()
        deleted += len(keys)
    return deleted


def delete_expired_sessions(*, at: datetime) -> int:
    """Delete the sessions that had expired at `at`; returns how many."""
    return delete_in_batches(Session.objects.filter(expire_date__lt=at))


def delete_old_attempts(*, at: datetime) -> int:
    """Delete the counts of wrong passwords that no longer lock anybody out; returns how many."""
    old = AccessAttempt.objects.filter(attempt_time__lt=at - settings.AXES_COOLOFF_TIME)
    return delete_in_batches(old)
