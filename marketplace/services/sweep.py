"""Act on deadlines. Every step can be repeated, and can run twice at the same time.

Each process has a thread that looks regularly who keeps the time, and that sweeps if it is this
process. If the process has no such thread, or if sweeps are late, each API call sweeps its
requester's rows first. So no response shows a deadline that passed more than SWEPT_LATELY sweeps
ago. A sweep that finds nothing due only reads.

A lease in the database says which process keeps the time, by the database's clock. Two sweeps at
the same time do no harm, so the lease only avoids useless work. It survives a holder that was
killed or hangs: after LEASE, the next process that sweeps takes it.
"""

import logging
import os
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Now

from marketplace.errors import DomainError
from marketplace.models import Assignment, AssignmentStatus, Hit, HitStatus, Requester, Timekeeper
from marketplace.services import assignments, hits, review_policies, reviews

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
    """When the last complete sweep began as this process's thread knows, by the monotonic clock.

    That sweep may be another process's.
    """

    began: float | None = None


def sweep_by_the_clock(*, at: datetime) -> int:
    """One sweep for all requesters, if this process keeps the time; return the changed rows."""
    began = time.monotonic()
    if not keep_time():
        age = since_last_sweep()
        _Thread.began = None if age is None else began - age.total_seconds()
        return 0
    changed = sweep(at=at)
    if not changed:
        note_complete_sweep()
    _Thread.began = None if changed else began
    return changed


def is_swept_by_the_clock() -> bool:
    """Whether this process's thread knows of a recent sweep of all requesters' rows."""
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


# Who keeps the time


LEASE = timedelta(seconds=5)
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
# The number of a process alone may occur on several machines.
_MACHINE = uuid.uuid4().hex


def keep_time() -> bool:
    """Take or renew the lease; return whether this process keeps the time."""
    if connection.vendor == "sqlite":
        # One process serves an SQLite file. A lease would write to it every second.
        return True
    if _take_lease():
        return True
    if Timekeeper.objects.exists():
        return False
    # An old time is a lease that has ended.
    never = Timekeeper(pk=1, holder="", began_at=_LONG_AGO)
    Timekeeper.objects.bulk_create([never], ignore_conflicts=True)
    return _take_lease()


def _take_lease() -> bool:
    ended = ExpressionWrapper(
        Now() - Value(LEASE, output_field=DurationField()), output_field=DateTimeField()
    )
    free = Q(holder=_holder()) | Q(began_at__lte=ended)
    return Timekeeper.objects.filter(free).update(holder=_holder(), began_at=Now()) > 0


def note_complete_sweep() -> None:
    """Record that the sweep for which this process renewed the lease left nothing."""
    if connection.vendor != "sqlite":
        Timekeeper.objects.filter(holder=_holder()).update(swept_at=F("began_at"))


def since_last_sweep() -> timedelta | None:
    """How long ago the latest complete sweep of any process began; None if there was none."""
    age = ExpressionWrapper(Now() - F("swept_at"), output_field=DurationField())
    return Timekeeper.objects.values_list(age, flat=True).first()


def _holder() -> str:
    return f"{_MACHINE}:{os.getpid()}"
