"""What the operator of the marketplace reads about its use."""

from django.db import models


class Activity(models.Model):
    """One thing that a requester's program or an operator did, or was refused."""

    happened_at = models.DateTimeField()
    actor = models.CharField(max_length=160)
    action = models.CharField(max_length=60)
    about = models.CharField(max_length=200, blank=True, default="")
    # The error's code where it was refused.
    refusal = models.CharField(max_length=80, blank=True, default="")

    class Meta:
        verbose_name_plural = "activities"
        indexes = [models.Index(fields=["happened_at"], name="activity_by_time")]

    def __str__(self) -> str:
        return f"{self.actor}: {self.action}"
