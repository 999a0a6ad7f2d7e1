"""Act on deadlines. Every step can be repeated, and can run twice at the same time.

Each process has a thread that sweeps regularly, one process at a time. If the process has no such
thread, or if its sweeps are late, each API call sweeps its requester's rows first. So no response
shows a deadline that passed more than SWEPT_LATELY sweeps ago. A sweep that finds nothing due only
reads.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet, Value
from django.db.models.functions import Coalesce

from marketplace.errors import DomainError
from marketplace.models import Assignment, AssignmentStatus, Hit, HitStatus, Requester
from marketplace.services import assignments, hits, review_policies, reviews
from shared.database.locks import process_lock

logger = logging.getLogger(__name__)

# Maximum number of rows per kind and sweep, so that an API call does not wait for thousands.
BATCH = 200
# An API call trusts the sweeps if the last complete one began within this many times
# MARKETPLACE_SWEEP_SECONDS.
SWEPT_LATELY = 3


@dataclass(frozen=True)
class Deadline:
    """A kind of row with a deadline, and the action when it has passed."""

    # Returns the rows that are due at a time, in the order in which they became due.
    due: Callable[[datetime], QuerySet[Any]]
    # Lookup from a row to its requester.
    requester: str
    # The action on one row; returns whether it changed something.
    act: Callable[[Any, datetime], bool]

    def meet(self, *, at: datetime, requester: Requester | None) -> int:
        """Act on the due rows, of all requesters or one; return the number of changed rows."""
        rows = self.due(at)
        if requester is not None:
            # The expression keeps the database from using the index on the requester, which would
            # read all of the requester's rows to find the due ones.
            owner = Coalesce(self.requester, Value(0))
            rows = rows.alias(owner=owner).filter(owner=requester.pk)
        return sum(self._act_alone(row, at) for row in rows[:BATCH])

    def _act_alone(self, row: Any, at: datetime) -> bool:
        """Act on a row; an error is logged, and stops no other row. The row stays due."""
        try:
            return self.act(row, at)
        except (InterfaceError, OperationalError):
            raise  # The database is away, or too busy for the other rows, too.
        except Exception:
            logger.exception("A deadline of %s %s could not be met.", row._meta.label, row.pk)
            return False


def sweep(*, at: datetime, requester: Requester | None = None) -> int:
    """Abandon, expire, approve and dispose of what is due; return the number of changed rows."""
    return sum(deadline.meet(at=at, requester=requester) for deadline in DEADLINES)


class _Thread:
    """When the last complete sweep of this process's thread began, by the monotonic clock."""

    began: float | None = None


def sweep_by_the_clock(*, at: datetime) -> int:
    """One sweep for all requesters, unless another process is sweeping; return the changed rows."""
    began = time.monotonic()
    with process_lock("sweep") as is_alone:
        if not is_alone:
            return 0
        changed = sweep(at=at)
    _Thread.began = None if changed else began
    return changed


def is_swept_by_the_clock() -> bool:
    """Whether this process's thread has lately swept all requesters' rows."""
    began = _Thread.began
    if began is None:
        return False
    return time.monotonic() - began < SWEPT_LATELY * settings.SWEEP_SECONDS


def _assignments_to_abandon(at: datetime) -> QuerySet[Assignment]:
    overdue = Assignment.objects.accepted().filter(deadline__lte=at)
    return overdue.select_related("hit__hit_type", "worker").order_by("deadline")


def _hits_to_expire(at: datetime) -> QuerySet[Hit]:
    # `IN (false)`, because SQLite uses no index for `NOT is_expired`.
    overdue = Hit.objects.undisposed().filter(is_expired__in=[False], expires_at__lte=at)
    return overdue.select_related("hit_type").order_by("expires_at")


@transaction.atomic
def _expire(hit: Hit, at: datetime) -> bool:
    # Decided again under the lock: the requester may have extended the HIT since.
    # Without a join: PostgreSQL finds no row if the type has changed while this waited.
    still = _hits_to_expire(at).filter(pk=hit.pk).select_related(None)
    if not still.select_for_update(no_key=True):
        return False
    hits.expire(hit=hit, at=at)
    return True


def _assignments_to_approve(at: datetime) -> QuerySet[Assignment]:
    overdue = Assignment.objects.filter(
        status=AssignmentStatus.SUBMITTED,
        auto_approval_at__lte=at,
        # A review policy that is still due decides first.
        hit__policy_due_at=None,
    ).select_related("hit__hit_type", "hit__requester", "worker")
    return overdue.order_by("auto_approval_at")


def _approve(assignment: Assignment, _at: datetime) -> bool:
    assert assignment.auto_approval_at is not None, "it is due"
    try:
        reviews.approve(assignment=assignment, at=assignment.auto_approval_at)
    except DomainError:
        return False  # The requester has decided meanwhile.
    return True


def approve_if_due(assignment: Assignment, *, at: datetime) -> None:
    """Approve this one if it is due: a sweep comes to BATCH of them only."""
    for due in _assignments_to_approve(at).filter(pk=assignment.pk):
        _approve(due, at)


def _hits_to_dispose_of(at: datetime) -> QuerySet[Hit]:
    return Hit.objects.filter(
        status__in=[HitStatus.REVIEWABLE, HitStatus.REVIEWING],
        expires_at__lte=at - settings.MTURK_DISPOSE_AFTER,
        unreviewed=0,
    )


@transaction.atomic
def _dispose_of(hit: Hit, at: datetime) -> bool:
    # Decided again under the lock.
    locked = _hits_to_dispose_of(at).filter(pk=hit.pk).select_for_update(no_key=True).first()
    if locked is not None:
        hits.dispose(hit=locked, at=at)
    return locked is not None


# The order matters: an abandoned slot may make a HIT reviewable, and its policy needs that.
DEADLINES = (
    Deadline(_assignments_to_abandon, "hit__requester_id", assignments.abandon),
    Deadline(_hits_to_expire, "requester_id", _expire),
    Deadline(review_policies.hits_with_due_policy, "requester_id", review_policies.apply_policy),
    Deadline(_assignments_to_approve, "hit__requester_id", _approve),
    Deadline(_hits_to_dispose_of, "requester_id", _dispose_of),
)
