"""State that all processes of one marketplace share, among it the log of operators' actions."""

from datetime import timedelta

from django.db import models
from django.db.models import Q

from marketplace.models.accounts import Requester


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
    # Each: operation, kind, times and seconds, as in `api.hooks.add_fault`.
    faults = models.JSONField(default=list)
    # Values as given in the request, by the name of the setting.
    settings = models.JSONField(default=dict)

    class Meta:
        constraints = [models.CheckConstraint(name="rehearsal_is_one", condition=Q(pk=1))]

    def __str__(self) -> str:
        return f"clock advanced by {self.clock_offset}"


class Activity(models.Model):
    """An action of a requester's program or an operator, or the refusal of one."""

    happened_at = models.DateTimeField()
    actor = models.CharField(max_length=160)
    action = models.CharField(max_length=60)
    about = models.CharField(max_length=200, blank=True, default="")
    # Error code if it was refused, else empty.
    refusal = models.CharField(max_length=80, blank=True, default="")

    class Meta:
        verbose_name_plural = "activities"
        indexes = [models.Index(fields=["happened_at"], name="activity_by_time")]

    def __str__(self) -> str:
        return f"{self.actor}: {self.action}"


class SentForm(models.Model):
    """A form that was sent, so that sending it again does nothing."""

    key = models.UUIDField(unique=True)
    sent_at = models.DateTimeField()
    # Where sending it again leads; empty while it is being carried out.
    location = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["sent_at"], name="sent_form_by_time")]

    def __str__(self) -> str:
        return f"form {self.pk}"
