"""State that all processes of one marketplace share."""

from datetime import timedelta

from django.db import models
from django.db.models import Q

from .accounts import Requester


class Timekeeper(models.Model):
    """The process that sweeps: a lease, which another process takes when it is not renewed."""

    holder = models.CharField(max_length=64)
    # By the database's clock: the beginning of the holder's latest sweep, and of the latest sweep
    # that left nothing.
    began_at = models.DateTimeField()
    swept_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(name="timekeeper_is_one", condition=Q(pk=1))]

    def __str__(self) -> str:
        return self.holder


class CallAllowance(models.Model):
    """A requester's remaining calls, if the calls per second are limited."""

    requester = models.OneToOneField(Requester, models.CASCADE, related_name="call_allowance")
    remaining = models.FloatField()
    counted_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.remaining:.1f} calls"


class Rehearsal(models.Model):
    """The clock, faults and settings that test hooks have set; empty without test hooks."""

    clock_offset = models.DurationField(default=timedelta)
    # Each: operation, kind, times and seconds, as in `api.faults.Fault`.
    faults = models.JSONField(default=list)
    # Values as given in the request, by the name of the setting.
    settings = models.JSONField(default=dict)

    class Meta:
        constraints = [models.CheckConstraint(name="rehearsal_is_one", condition=Q(pk=1))]

    def __str__(self) -> str:
        return f"clock advanced by {self.clock_offset}"
