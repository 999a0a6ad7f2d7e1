"""Challenges, the accounts of submitters, their submissions, and the files that were submitted."""

from datetime import datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Count, F, Q
from django.urls import reverse

from accounts.models import TeamRows
from annotate.models import Release
from shared.database.queues import Queued, is_due


class ChallengeQuerySet(TeamRows["Challenge"]):
    """Challenges, each of which belongs to the team of its release."""

    team_path = "release__campaign__team"

    def shown_to(self, user: Any, at: datetime) -> Self:
        """Challenges that have opened, and before that those of the user's teams."""
        if user.is_active and user.is_superuser:
            return self
        return self.filter(Q(opens_at__lte=at) | self._seen_by(user))

    def opened(self, at: datetime) -> Self:
        """Challenges that have opened, also those that have closed since."""
        return self.filter(opens_at__lte=at)


class Challenge(models.Model):
    """An invitation to caption the images of a release, with the rules for submissions."""

    name = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    release = models.ForeignKey(Release, models.PROTECT, related_name="challenges")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="challenges", null=True, blank=True
    )
    plain_data = models.TextField(help_text="the training data that the plain track allows")
    has_extra_track = models.BooleanField(default=True)
    per_day = models.PositiveSmallIntegerField()
    in_total = models.PositiveSmallIntegerField()
    opens_at = models.DateTimeField()
    closes_at = models.DateTimeField(null=True, blank=True)
    # The board is private until then.
    published_at = models.DateTimeField(null=True, blank=True)
    metrics = models.JSONField(help_text="names of the metrics to compute")
    tokeniser = models.CharField(max_length=20)
    seconds = models.PositiveIntegerField(help_text="time limit for scoring one submission")
    megabytes = models.PositiveIntegerField(help_text="memory limit of each scoring process")
    # What people said: `release` and `criterion`, the mean `scores` of the release's sources, pairs
    # of sources that they tell `apart`, the better one first, and `sources` by submission.
    people = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField()

    objects = ChallengeQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(closes_at=None) | Q(closes_at__gte=F("opens_at")),
                name="challenge_closes_after_it_opens",
            ),
            models.CheckConstraint(
                condition=Q(per_day__gte=1, per_day__lte=F("in_total")),
                name="challenge_limits_allow_a_submission",
            ),
            models.CheckConstraint(
                condition=Q(seconds__gte=1, megabytes__gte=1),
                name="challenge_scoring_has_time_and_memory",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("leaderboard:challenge", args=[self.name])

    @property
    def is_published(self) -> bool:
        """Whether everybody may see the board."""
        return self.published_at is not None

    def is_open(self, at: datetime) -> bool:
        """Whether submissions are taken at this time."""
        return self.opens_at <= at and not self.is_closed(at)

    def is_closed(self, at: datetime) -> bool:
        return self.closes_at is not None and self.closes_at <= at


class Submitter(models.Model):
    """Marks an account as a submitter's: it may use the evaluation server and nothing else."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="submitter"
    )
    team = models.CharField(max_length=100, help_text="shown on boards")
    # A keyed digest, to limit how many accounts one address creates; empty if a researcher did.
    address = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["address", "created_at"], name="submitter_by_address")]

    def __str__(self) -> str:
        return self.team


class Track(models.TextChoices):
    PLAIN = "PLAIN", "Plain"
    EXTRA = "EXTRA", "Extra data"


class SubmissionStatus(models.TextChoices):
    WAITING = "WAITING"
    RUNNING = "RUNNING"
    SCORED = "SCORED"
    FAILED = "FAILED"
    WITHDRAWN = "WITHDRAWN"


# No run may take longer (a challenge's limit is a day), even by the clock of another machine.
LONGEST_RUN = timedelta(days=2)


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def of(self, user: User) -> Self:
        """Submissions of this user, the latest first."""
        return self.filter(submitter=user).order_by("-created_at", "-pk")

    def counting(self) -> Self:
        """Submissions that count towards the limits: all except those whose scoring failed."""
        return self.exclude(try_number=None)

    def waiting(self) -> Self:
        """Submissions to score, in the order of their turns."""
        return self.filter(status=SubmissionStatus.WAITING).order_by("due_at", "pk")

    def running(self) -> Self:
        return self.filter(status=SubmissionStatus.RUNNING)

    def dead(self, at: datetime) -> Self:
        """Submissions whose run has not ended in its time: its process must have died."""
        due = is_due(at, longest_pause=LONGEST_RUN)
        return self.running().filter(due).order_by("due_at", "pk")

    def scored(self) -> Self:
        return self.filter(status=SubmissionStatus.SCORED)

    def by_status(self) -> dict[str, int]:
        """The number of submissions in each state that some are in."""
        counts = self.order_by("status").values_list("status").annotate(number=Count("pk"))
        return dict(counts)


class Submission(Queued):
    """A checked results file of a submitter, its state and its scores.

    The human baseline of a challenge is a submission without a submitter, and outside the limits.

    Each submission that counts has a number among the submitter's tries in the challenge, and one
    among those of its day (UTC). The unique numbers keep the limits even if two submissions arrive
    at the same time. A failed submission gives its numbers back.
    """

    challenge = models.ForeignKey(Challenge, models.PROTECT, related_name="submissions")
    submitter = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="submissions", null=True
    )
    is_baseline = models.BooleanField(default=False)
    track = models.CharField(max_length=5, choices=Track)
    method = models.CharField(max_length=100)
    training_data = models.TextField(help_text="as the submitter declares it")
    sha256 = models.CharField(max_length=64)
    status = models.CharField(
        max_length=9, choices=SubmissionStatus, default=SubmissionStatus.WAITING
    )
    day = models.DateField()
    day_number = models.PositiveSmallIntegerField(null=True)
    try_number = models.PositiveSmallIntegerField(null=True)
    # Means only. A figure of one image must never be stored here.
    scores = models.JSONField(null=True)
    # Read by the submitter: no caption and no reference may be written here.
    log = models.TextField(blank=True)
    withdrawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True
    )
    withdrawn_because = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=Q(status="WAITING"),
                name="submission_to_score",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["challenge", "submitter", "try_number"], name="submission_try_once"
            ),
            models.UniqueConstraint(
                fields=["challenge", "submitter", "day", "day_number"],
                name="submission_try_of_day_once",
            ),
            models.UniqueConstraint(
                fields=["challenge", "submitter", "track", "sha256"],
                condition=~Q(status="FAILED"),
                name="submission_file_once",
            ),
            models.UniqueConstraint(
                fields=["challenge"], condition=Q(is_baseline=True), name="submission_one_baseline"
            ),
            models.CheckConstraint(
                condition=Q(is_baseline=True, submitter=None)
                | Q(is_baseline=False, submitter__isnull=False),
                name="submission_has_submitter_or_is_baseline",
            ),
            models.CheckConstraint(
                condition=Q(try_number=None, day_number=None)
                & (Q(status="FAILED") | Q(is_baseline=True))
                | Q(try_number__gte=1, day_number__gte=1, is_baseline=False) & ~Q(status="FAILED"),
                name="submission_counts_unless_failed",
            ),
            models.CheckConstraint(
                condition=~Q(status="SCORED") | Q(scores__isnull=False),
                name="submission_scored_has_scores",
            ),
            models.CheckConstraint(
                condition=Q(status="RUNNING", run__isnull=False, due_at__isnull=False)
                | ~Q(status="RUNNING") & Q(run=None),
                name="submission_run_matches_status",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.method} ({self.pk})"


class SubmittedFile(models.Model):
    """The results file of a submission: JSON, compressed by zlib."""

    submission = models.OneToOneField(
        Submission, models.CASCADE, primary_key=True, related_name="file"
    )
    content = models.BinaryField()

    def __str__(self) -> str:
        return f"File of {self.submission_id}"
