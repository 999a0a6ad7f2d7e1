"""Gold items, which measure reviewers."""

import uuid
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotate.models import Campaign, Response, Task
from qualcontrol.models.checks import Verdict


class GoldQuerySet(models.QuerySet["Gold"]):
    def of(self, campaign: Campaign) -> Self:
        return self.filter(campaign=campaign)


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
