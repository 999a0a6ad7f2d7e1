"""Jobs: work that takes too long for a request, and what its page shows of it."""

import uuid
from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from accounts.models.teams import Team, TeamRows
from background.models.about import About
from shared.database.queues import Queued


class JobStatus(models.TextChoices):
    WAITING = "WAITING"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


UNFINISHED = (JobStatus.WAITING, JobStatus.RUNNING)
ENDED = (JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED)


class JobQuerySet(TeamRows["Job"]):
    def unfinished(self) -> Self:
        """Jobs that wait or run."""
        return self.filter(status__in=UNFINISHED)

    def ended(self) -> Self:
        return self.filter(status__in=ENDED)

    def running(self) -> Self:
        return self.filter(status=JobStatus.RUNNING)

    def waiting(self, at: datetime) -> Self:
        """Jobs that a worker may start, in the order of their turns."""
        return self.filter(status=JobStatus.WAITING, due_at__lte=at).order_by("due_at", "pk")

    def silent(self, at: datetime) -> Self:
        """Running jobs whose lease has ended, because their worker stopped or cannot write."""
        return self.running().filter(due_at__lte=at).order_by("due_at", "pk")


class Job(Queued, About):
    """One piece of background work: who asked for it, how far it is, and how it ended.

    While it runs, only the worker that has claimed it may change the row, and it renews the lease.
    """

    # Null for a job of the site, which only operators see.
    team = models.ForeignKey(Team, models.CASCADE, related_name="jobs", null=True)
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.SlugField(max_length=40, help_text="a name in background.jobs.registry")
    title = models.CharField(max_length=200)
    arguments = models.JSONField(default=dict, blank=True)
    # Equal for jobs that do the same work, so that only one of them waits or runs.
    fingerprint = models.CharField(max_length=64, editable=False)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="jobs", null=True
    )
    repeats = models.ForeignKey("self", models.SET_NULL, related_name="repeated_by", null=True)
    status = models.CharField(max_length=9, choices=JobStatus, default=JobStatus.WAITING)
    step = models.CharField(max_length=200, blank=True, help_text="what it does now, in words")
    done = models.PositiveBigIntegerField(default=0)
    # Null if the amount of work is not known.
    total = models.PositiveBigIntegerField(null=True)
    # When a worker first found the lease ended. Another one starts the job only some time later.
    doubted_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    asked_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    cancel_asked_at = models.DateTimeField(null=True)
    cancel_asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True
    )
    result_text = models.TextField(blank=True)
    result_url = models.CharField(max_length=500, blank=True)
    # A file that the job wrote, below MEDIA_ROOT; its page offers it for download.
    result_file = models.CharField(max_length=500, blank=True)
    error = models.TextField(blank=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-asked_at", "-pk"]
        indexes = [
            models.Index(
                fields=["due_at"], condition=Q(status="WAITING"), name="job_to_start_by_turn"
            ),
            models.Index(
                fields=["due_at"], condition=Q(status="RUNNING"), name="job_running_by_lease"
            ),
            models.Index(fields=["-asked_at", "-id"], name="job_latest_first"),
            models.Index(fields=["about_type", "about_id"], name="job_by_subject"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "fingerprint"],
                condition=Q(status__in=["WAITING", "RUNNING"]),
                name="job_once_at_a_time",
            ),
            models.CheckConstraint(
                condition=Q(status="RUNNING", run__isnull=False, due_at__isnull=False)
                | ~Q(status="RUNNING") & Q(run=None, doubted_at=None),
                name="job_lease_matches_status",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["WAITING", "RUNNING"], ended_at=None)
                | Q(status__in=["DONE", "FAILED", "CANCELLED"], ended_at__isnull=False),
                name="job_end_matches_status",
            ),
            models.CheckConstraint(
                condition=Q(status="FAILED") & ~Q(error="") | ~Q(status="FAILED") & Q(error=""),
                name="job_failed_says_why",
            ),
            models.CheckConstraint(
                condition=Q(total=None) | Q(done__lte=F("total")), name="job_done_within_total"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("jobs:job", args=[self.key])

    @property
    def is_unfinished(self) -> bool:
        return self.status in UNFINISHED

    @property
    def is_being_cancelled(self) -> bool:
        return self.is_unfinished and self.cancel_asked_at is not None


class JobLine(models.Model):
    """A line of a job's log, in words for its page. Lines are only appended."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="lines")
    at = models.DateTimeField()
    text = models.TextField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.text
