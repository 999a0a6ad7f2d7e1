"""Queues in the database: rows of work, each of which one process at a time claims and does."""

import uuid
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import models, transaction


class Queued(models.Model):
    """A row of a queue.

    The process that claims it gives it a `run`, counts the attempt, and moves `due_at` to the end
    of its lease: if it has died by then, another process may have the row.
    """

    # No process claims the row before this time; null: not until somebody sets a time.
    due_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    run = models.UUIDField(null=True, editable=False)

    class Meta:
        abstract = True


def is_due(at: datetime, *, longest_pause: timedelta) -> models.Q:
    """The condition of rows that may be claimed now. A row that is due later than the longest pause
    lasts was stored by a clock that was ahead."""
    return models.Q(due_at__lte=at) | models.Q(due_at__gt=at + longest_pause)


Row = TypeVar("Row", bound=Queued)


def claim(rows: models.QuerySet[Row], values: Callable[[Row], Mapping[str, Any]]) -> Row | None:
    """Give this process the first of the rows; None if there is none.

    `values` are what changes in the row, `due_at` among them. Rows that other processes are
    claiming are passed over. SQLite has no locks of rows; there, transactions follow each other.
    """
    if not rows.exists():  # Without a lock, for which others would wait on SQLite.
        return None
    with transaction.atomic():
        row = rows.select_for_update(of=("self",), skip_locked=True).first()
        if row is None:
            return None
        changes = {"run": uuid.uuid4(), "attempts": row.attempts + 1, **values(row)}
        type(row)._base_manager.filter(pk=row.pk).update(**changes)
        row.refresh_from_db(fields=list(changes))
    return row


def held(row: Row) -> models.QuerySet[Row]:
    """The row, if no other process has claimed it and nobody has ended it since `row` was read."""
    rows: models.QuerySet[Row] = type(row)._default_manager.filter(pk=row.pk, run=row.run)
    return rows
