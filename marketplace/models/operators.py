"""The activity log for operators."""

from django.db import models


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
    # Where its answer led; empty if it was a page, or if it is still being carried out.
    location = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["sent_at"], name="sent_form_by_time")]

    def __str__(self) -> str:
        return f"form {self.pk}"
