"""Which process keeps the time: a lease in the database, measured by the database's own clock.

Two sweeps at the same time do no harm, so the lease only avoids useless work. It survives a holder
that was killed or hangs: after LEASE, the next process that sweeps takes it.
"""

import os
import uuid
from datetime import UTC, datetime, timedelta

from django.db import connection
from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, Q, Value
from django.db.models.functions import Now

from marketplace.models import Timekeeper

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
