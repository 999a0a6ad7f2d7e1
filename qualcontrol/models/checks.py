"""Spot checks, and reviewers' judgements of them."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotate.models import Campaign, Response, ResponseStatus


class Verdict(models.TextChoices):
    GOOD = "GOOD"
    BAD = "BAD"


class SpotCheckQuerySet(models.QuerySet["SpotCheck"]):
    def of(self, campaign: Campaign) -> Self:
        return self.filter(campaign=campaign)

    def open(self) -> Self:
        """Checks without a verdict, except those of discarded responses."""
        return self.filter(verdict="").exclude(response__status=ResponseStatus.DISCARDED)

    def half_judged(self) -> Self:
        """Open checks with a judgement, which wait for another reviewer."""
        return self.open().filter(
            models.Exists(Judgement.objects.filter(spot_check=models.OuterRef("pk")))
        )


class SpotCheck(models.Model):
    """A response chosen for review. Required checks are created when the response arrives, others
    with their first judgement."""

    # Copied from the response's task, so that one index serves a campaign's queries.
    campaign = models.ForeignKey(
        Campaign, models.PROTECT, related_name="spot_checks", db_index=False
    )
    response = models.OneToOneField(Response, models.PROTECT, related_name="spot_check")
    is_random = models.BooleanField(
        default=False, help_text="in the random sample that the estimate is made from"
    )
    is_first = models.BooleanField(default=False, help_text="among its worker's first responses")
    draw = models.FloatField(default=0, help_text="place in the campaign's random order, 0 to 1")
    drawn_at = models.DateTimeField()
    # Empty until enough reviewers agree.
    verdict = models.CharField(max_length=4, choices=Verdict, blank=True)
    reason = models.CharField(max_length=300, blank=True)
    judged_at = models.DateTimeField(null=True, blank=True)

    objects = SpotCheckQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(verdict="", judged_at=None)
                | Q(verdict__in=Verdict.values, judged_at__isnull=False),
                name="spot_check_judged_at_matches_verdict",
            ),
            models.CheckConstraint(
                condition=~Q(verdict=Verdict.BAD) | ~Q(reason=""),
                name="spot_check_bad_has_a_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["campaign", "verdict", "draw"], name="spot_check_by_verdict"),
        ]

    def __str__(self) -> str:
        return f"{self.response}: {self.get_verdict_display() or 'open'}"


class Judgement(models.Model):
    """One reviewer's judgement of a response."""

    spot_check = models.ForeignKey(SpotCheck, models.PROTECT, related_name="judgements")
    # Empty for verdicts from a file without a reviewer's name.
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="judgements"
    )
    verdict = models.CharField(max_length=4, choices=Verdict)
    reason = models.CharField(max_length=300, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["spot_check", "reviewer"], name="judgement_once_per_reviewer"
            ),
            models.UniqueConstraint(
                fields=["spot_check"],
                condition=Q(reviewer=None),
                name="judgement_once_without_a_name",
            ),
            models.CheckConstraint(
                condition=~Q(verdict=Verdict.BAD) | ~Q(reason=""), name="judgement_bad_has_a_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_verdict_display()} by {self.reviewer or 'nobody named'}"


class ReservationQuerySet(models.QuerySet["Reservation"]):
    def of(self, campaign: Campaign) -> Self:
        return self.filter(campaign=campaign)

    def in_force(self, at: datetime) -> Self:
        return self.filter(until__gt=at)


class Reservation(models.Model):
    """A timed reservation of a response for one reviewer. Others are not shown the response."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="reservations")
    response = models.OneToOneField(Response, models.CASCADE, related_name="reservation")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="reservations"
    )
    until = models.DateTimeField()

    objects = ReservationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.response} for {self.reviewer}"
