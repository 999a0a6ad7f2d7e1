"""Jobs, failures and notices: what they are about, how far they are, and what became of them."""

import base64
import secrets
import uuid
from datetime import datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.contrib.contenttypes.fields import GenericForeignKey
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.db.models import F, Q, QuerySet
from django.urls import reverse

from accounts.models import Team, TeamRows
from shared.database.queues import Queued, is_due


def about_row(row: models.Model) -> Q:
    """The condition of being about this row."""
    return Q(about_type=ContentType.objects.get_for_model(row), about_id=row.pk)


def about_any(rows: QuerySet[Any]) -> Q:
    """The condition of being about one of these rows."""
    kind = ContentType.objects.get_for_model(rows.model)
    return Q(about_type=kind, about_id__in=rows.values("pk"))


class About(models.Model):
    """A row that can be about something, such as a campaign or a release."""

    about_type = models.ForeignKey(
        ContentType, models.PROTECT, related_name="+", null=True, editable=False
    )
    about_id = models.PositiveBigIntegerField(null=True, editable=False)
    about = GenericForeignKey("about_type", "about_id")

    class Meta:
        abstract = True


class JobStatus(models.TextChoices):
    WAITING = "WAITING"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


UNFINISHED = (JobStatus.WAITING, JobStatus.RUNNING)
ENDED = (JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED)


# No pause between two attempts of a job is longer.
LONGEST_PAUSE = timedelta(minutes=1)
# No lease, or doubt about one, is longer, even by the clock of another machine.
LONGEST_LEASE = timedelta(hours=2)


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
        due = is_due(at, longest_pause=LONGEST_PAUSE)
        return self.filter(due, status=JobStatus.WAITING).order_by("due_at", "pk")

    def silent(self, at: datetime) -> Self:
        """Running jobs whose lease has ended, because their worker stopped or cannot write."""
        due = is_due(at, longest_pause=LONGEST_LEASE)
        return self.running().filter(due).order_by("due_at", "pk")


class Job(Queued, About):
    """One piece of background work: who asked for it, how far it is, and how it ended.

    While it runs, only the worker that has claimed it may change the row, and it renews the lease.
    """

    # Null for a job of the site, which only operators see.
    team = models.ForeignKey(Team, models.CASCADE, related_name="jobs", null=True)
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.SlugField(max_length=40, help_text="a name in background.jobs.work")
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


SECRET_PREFIX = "whsec_"


def new_secret() -> str:
    """A random secret in the form of the Standard Webhooks specification."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(24)).decode()


class NoticeQuerySet(models.QuerySet["Notice"]):
    def open(self) -> Self:
        """Notices of states that continue, and of single events."""
        return self.filter(over_at=None)


class Notice(About):
    """An event or state that people are told of once.

    `subject` says what it is about, so that a restart or a second process adds no other row. When a
    state is over, `over_at` is set, and the state can be noticed again.
    """

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.SlugField(max_length=40, help_text="a name in background.notices.registry")
    subject = models.CharField(max_length=200)
    # Null for notices that only operators, or only the user who asked, may see.
    team = models.ForeignKey(Team, models.CASCADE, related_name="notices", null=True)
    # Whether only the user who asked for it gets an e-mail.
    is_personal = models.BooleanField(default=False)
    title = models.CharField(max_length=200)
    text = models.TextField()
    path = models.CharField(max_length=300, help_text="the page to open")
    noticed_at = models.DateTimeField()
    over_at = models.DateTimeField(null=True)

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ["-noticed_at", "-pk"]
        indexes = [
            models.Index(fields=["kind", "subject", "noticed_at"], name="notice_by_subject"),
            models.Index(fields=["about_type", "about_id", "-noticed_at"], name="notice_by_topic"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject"], condition=Q(over_at=None), name="notice_open_once"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def url(self) -> str:
        return f"{settings.SITE_URL}{self.path}"


class NoticeChoice(models.Model):
    """Whether a user wants e-mails of a kind. Without a row, the kind's default applies."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="choices")
    kind = models.SlugField(max_length=40)
    is_on = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "kind"], name="notice_choice_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.kind} {'on' if self.is_on else 'off'}"


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def kept(self) -> Self:
        """Without those that were removed."""
        return self.filter(removed_at=None)

    def wanting(self, kind: str) -> Self:
        """Webhooks that are on and get notices of this kind."""
        # JSON lookups differ between databases, and a campaign has few webhooks.
        keys = [hook.pk for hook in self.kept().filter(is_on=True) if kind in hook.kinds]
        return self.filter(pk__in=keys)


class Webhook(About):
    """An address that gets notices about a campaign as signed HTTP requests."""

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    url = models.CharField(max_length=500)
    secret = models.CharField(max_length=100, default=new_secret, editable=False)
    kinds = models.JSONField(default=list, help_text="names of the kinds of notices that it gets")
    is_on = models.BooleanField(default=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True
    )
    created_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["about_type", "about_id", "url"],
                condition=Q(removed_at=None),
                name="webhook_address_once_per_campaign",
            ),
        ]

    def __str__(self) -> str:
        return self.url

    def get_absolute_url(self) -> str:
        campaign: Any = self.about
        return f"{campaign.get_absolute_url()}webhooks/{self.key}/"


class DeliveryStatus(models.TextChoices):
    WAITING = "WAITING"
    SENT = "SENT"
    GIVEN_UP = "GIVEN_UP", "given up"


class Delivery(Queued):
    """One notice for one person or one webhook, and what became of it."""

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    notice = models.ForeignKey(Notice, models.CASCADE, related_name="deliveries")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="deliveries", null=True
    )
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries", null=True)
    status = models.CharField(max_length=8, choices=DeliveryStatus, default=DeliveryStatus.WAITING)
    ended_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True, help_text="why the last attempt failed")

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(status="WAITING"), name="delivery_due"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(user=None, webhook__isnull=False) | Q(user__isnull=False, webhook=None),
                name="delivery_to_a_user_or_a_webhook",
            ),
            models.UniqueConstraint(fields=["notice", "user"], name="delivery_once_per_user"),
            models.UniqueConstraint(fields=["notice", "webhook"], name="delivery_once_per_webhook"),
            models.CheckConstraint(
                condition=Q(status="WAITING", ended_at=None)
                | ~Q(status="WAITING") & Q(ended_at__isnull=False),
                name="delivery_end_matches_status",
            ),
            models.CheckConstraint(
                condition=~Q(status="GIVEN_UP") | ~Q(error=""), name="delivery_given_up_says_why"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.notice} to {self.webhook or self.user}"
