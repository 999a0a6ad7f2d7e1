"""Background work that failed for good, until it is solved or dismissed."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from accounts.models.teams import Team, TeamRows
from background.models.about import About


class FailureSource(models.TextChoices):
    """What failed. The values decide what “try again” does (`background.failures`)."""

    JOB = "JOB", "job"
    TASK = "TASK", "background task"
    SYNC = "SYNC", "sync"
    DELIVERY = "DELIVERY", "notice"


class FailureQuerySet(TeamRows["Failure"]):
    def open(self) -> Self:
        """Without those that were solved or dismissed."""
        return self.filter(ended_at=None)


class Failure(About):
    """Something that failed and is not repaired by being tried again as usual.

    `subject` names the thing within its source, so that one row is open for each; `arguments` are
    what trying again needs.
    """

    source = models.CharField(max_length=8, choices=FailureSource)
    subject = models.CharField(max_length=200)
    # Null for work of the site, which only operators see.
    team = models.ForeignKey(Team, models.CASCADE, related_name="failures", null=True)
    title = models.CharField(max_length=200)
    arguments = models.JSONField(default=dict, blank=True)
    error = models.TextField(help_text="what went wrong, in words")
    path = models.CharField(max_length=500, blank=True, help_text="a page with more about it")
    times = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    # When it was solved, tried again or dismissed.
    ended_at = models.DateTimeField(null=True)
    # Who tried it again or dismissed it. Null if it solved itself.
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True
    )

    objects = FailureQuerySet.as_manager()

    class Meta:
        ordering = ["-last_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "subject"],
                condition=Q(ended_at=None),
                name="failure_open_once_per_subject",
            ),
            models.CheckConstraint(condition=~Q(error=""), name="failure_says_why"),
        ]

    def __str__(self) -> str:
        return self.title
