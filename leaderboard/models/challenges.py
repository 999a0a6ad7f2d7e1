"""Challenges."""

from datetime import datetime
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from accounts.models.teams import TeamRows
from annotate.models import Release


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
