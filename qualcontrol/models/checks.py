"""What reviewers judge: spot checks, second opinions and gold items."""

import uuid
from datetime import datetime, timedelta
from typing import Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotate.models import Campaign, Response, ResponseStatus, Task

Row = TypeVar("Row", bound=models.Model)


class Verdict(models.TextChoices):
    GOOD = "GOOD"
    BAD = "BAD"


class OfCampaign(models.QuerySet[Row]):
    """Rows with their own campaign."""

    def of(self, campaign: Campaign) -> Self:
        return self.filter(campaign=campaign)


class SpotCheckQuerySet(OfCampaign["SpotCheck"]):
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
    is_changed = models.BooleanField(
        default=False, help_text="a person has replaced the verdict of the judgements"
    )

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
            models.CheckConstraint(
                condition=Q(is_changed=False) | ~Q(verdict=""),
                name="spot_check_changed_has_a_verdict",
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


# How long a response is reserved for a reviewer. After that others are shown it.
RESERVED_FOR = timedelta(minutes=15)


def is_over(at: datetime) -> Q:
    """The condition of reservations that have expired. One that ends later than any can was stored
    by a clock that was ahead."""
    return Q(until__lte=at) | Q(until__gt=at + 2 * RESERVED_FOR)


class ReservationQuerySet(OfCampaign["Reservation"]):
    def in_force(self, at: datetime) -> Self:
        return self.exclude(is_over(at))


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


class SecondOpinionQuerySet(OfCampaign["SecondOpinion"]):
    def wanted(self) -> Self:
        """Those that were not withdrawn. Two reviewers must agree about their responses."""
        return self.filter(withdrawn_at=None)

    def without_check(self) -> Self:
        """Those about responses that count and that nobody has judged, because they have no spot
        check."""
        submitted = self.wanted().filter(response__status=ResponseStatus.SUBMITTED)
        return submitted.filter(response__spot_check=None)


class SecondOpinion(models.Model):
    """A reviewer's request that another reviewer judges a response, too."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="second_opinions")
    # The public key of the item. Gold items have no response here, so that nobody is shown them for
    # this request.
    key = models.UUIDField()
    response = models.ForeignKey(
        Response, models.PROTECT, related_name="second_opinions", null=True, blank=True
    )
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="second_opinions"
    )
    asked_at = models.DateTimeField()
    question = models.CharField(max_length=300, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = SecondOpinionQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["response"],
                condition=Q(withdrawn_at=None),
                name="second_opinion_once_per_response",
            ),
            models.UniqueConstraint(
                fields=["key", "asked_by"],
                condition=Q(withdrawn_at=None),
                name="second_opinion_once_per_reviewer",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.asked_by} about {self.key}"


class GoldQuerySet(OfCampaign["Gold"]):
    def with_key(self, key: uuid.UUID) -> Self:
        """The gold item that reviewers know by this public key."""
        return self.filter(Q(response=None, key=key) | Q(response__key=key))


class Gold(models.Model):
    """A response with a known verdict, or a made-up bad caption. A made-up caption is not a
    response: it belongs to no worker and is never counted or released."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="gold")
    task = models.ForeignKey(Task, models.PROTECT, related_name="gold")
    # Identifies a made-up caption on review pages. Responses have keys of the same form.
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    response = models.OneToOneField(
        Response, models.PROTECT, null=True, blank=True, related_name="gold"
    )
    text = models.TextField(blank=True, help_text="the made-up caption")
    verdict = models.CharField(max_length=4, choices=Verdict)
    reason = models.CharField(max_length=300, blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="gold"
    )
    made_at = models.DateTimeField()

    objects = GoldQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "gold"
        constraints = [
            models.CheckConstraint(
                condition=Q(response__isnull=False, text="")
                | (Q(response=None, verdict=Verdict.BAD) & ~Q(text="")),
                name="gold_is_a_response_or_made_up_and_bad",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task}: {self.get_verdict_display().lower()}"


class GoldAnswer(models.Model):
    """A reviewer's judgement of a gold item."""

    gold = models.ForeignKey(Gold, models.CASCADE, related_name="answers")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="gold_answers"
    )
    verdict = models.CharField(max_length=4, choices=Verdict)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["gold", "reviewer"], name="gold_answer_once_per_reviewer"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer}: {self.get_verdict_display().lower()}"
