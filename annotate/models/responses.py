"""Who answered what: workers, their leases on tasks, their responses and captions, and how they
went about it."""

import secrets
from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q

from annotate.models.campaigns import Task


def new_pseudonym() -> str:
    """A name for a worker that says nothing about them."""
    return f"W-{secrets.token_hex(4).upper()}"


class Worker(models.Model):
    """A person who answers tasks, under a pseudonym; only `hits` knows the marketplace's id."""

    pseudonym = models.CharField(max_length=10, unique=True, default=new_pseudonym, editable=False)

    def __str__(self) -> str:
        return self.pseudonym


class ClaimStatus(models.TextChoices):
    HELD = "HELD", "held: the place is kept for the worker"
    USED = "USED", "used: the response was submitted and holds the place itself"
    RELEASED = "RELEASED", "released: returned, or the lease ended"


class ClaimQuerySet(models.QuerySet["Claim"]):
    def with_task(self) -> Self:
        """Claims with all that a page needs to show what their tasks are about."""
        return self.select_related("task__campaign", "task__image", "task__subject")

    def held(self) -> Self:
        return self.filter(status=ClaimStatus.HELD)

    def lapsed(self, at: datetime) -> Self:
        """Claims still held whose lease is over."""
        return self.held().filter(expires_at__lte=at)


class Claim(models.Model):
    """A lease: one place of a task, kept for one worker until it expires. It steers which task a
    worker sees; it is no promise, and an answer that comes in later still counts."""

    task = models.ForeignKey(Task, models.CASCADE, related_name="claims")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="claims")
    status = models.CharField(max_length=8, choices=ClaimStatus, default=ClaimStatus.HELD)
    claimed_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    objects = ClaimQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task", "worker"],
                condition=Q(status=ClaimStatus.HELD),
                name="claim_held_once_per_worker_and_task",
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=models.F("claimed_at")), name="claim_lasts"
            ),
        ]
        indexes = [
            models.Index(
                fields=["expires_at"], name="claim_lapsing", condition=Q(status=ClaimStatus.HELD)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task} by {self.worker}"


class ResponseStatus(models.TextChoices):
    STORED = "STORED", "stored here, not yet submitted at the marketplace"
    SUBMITTED = "SUBMITTED", "submitted: counts towards the task"
    DISCARDED = "DISCARDED", "discarded: kept, but counts no more"


class ResponseQuerySet(models.QuerySet["Response"]):
    def of(self, campaign: models.Model) -> Self:
        return self.filter(task__campaign=campaign)

    def counting(self) -> Self:
        return self.filter(status=ResponseStatus.SUBMITTED)


class Response(models.Model):
    """One worker's answer to one task; its content is a Caption (or another kind's row)."""

    task = models.ForeignKey(Task, models.PROTECT, related_name="responses")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="responses")
    # Empty for a response that was collected elsewhere.
    claim = models.OneToOneField(
        Claim, models.PROTECT, null=True, blank=True, related_name="response"
    )
    status = models.CharField(max_length=9, choices=ResponseStatus, default=ResponseStatus.STORED)
    stored_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True, blank=True)
    # Seconds from the page's opening to its answer.
    seconds = models.PositiveIntegerField(null=True, blank=True)

    objects = ResponseQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task", "worker"], name="response_once_per_worker_and_task"
            ),
            models.CheckConstraint(
                condition=Q(status=ResponseStatus.STORED, submitted_at=None)
                | Q(status__in=["SUBMITTED", "DISCARDED"], submitted_at__isnull=False),
                name="response_submitted_at_matches_status",
            ),
        ]
        indexes = [
            models.Index(fields=["status", "submitted_at"], name="response_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.task} by {self.worker} ({self.status.lower()})"


class Caption(models.Model):
    """The sentence of a caption response, with white space and Unicode in order, else as typed."""

    response = models.OneToOneField(
        Response, models.CASCADE, primary_key=True, related_name="caption"
    )
    text = models.TextField()

    def __str__(self) -> str:
        return self.text


class Correspondence(models.Model):
    """What the words of a task's caption refer to, as one worker sees it.

    One JSON column, because it is written and read as a whole: the number of each word that was
    answered, to the keys of its boxes or to one of annotate.correspondence's kinds.
    """

    response = models.OneToOneField(
        Response, models.CASCADE, primary_key=True, related_name="correspondence"
    )
    words = models.JSONField()

    def __str__(self) -> str:
        return f"{self.response}: {len(self.words)} words"


class Device(models.TextChoices):
    """What an answer was written on; nothing finer is kept."""

    PHONE = "PHONE"
    TABLET = "TABLET"
    COMPUTER = "COMPUTER"


class Behaviour(models.Model):
    """How an answer came about, as the task page counted it; never what was typed. A count is
    empty where nothing is known of it: the page ran without its script, or was not ours."""

    response = models.OneToOneField(
        Response, models.CASCADE, primary_key=True, related_name="behaviour"
    )
    keystrokes = models.PositiveIntegerField(null=True, blank=True)
    pastes = models.PositiveIntegerField(null=True, blank=True)
    pasted_characters = models.PositiveIntegerField(null=True, blank=True)
    # Seconds during which a field of the answer had the focus.
    seconds_writing = models.FloatField(null=True, blank=True)
    # How often the page lost the focus to another window or tab.
    times_left = models.PositiveIntegerField(null=True, blank=True)
    device = models.CharField(max_length=8, choices=Device, blank=True)

    class Meta:
        verbose_name_plural = "behaviours"

    def __str__(self) -> str:
        return f"behaviour of {self.response}"
