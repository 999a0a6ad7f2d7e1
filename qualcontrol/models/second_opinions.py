"""Requests of reviewers for a second opinion on a response."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotate.models import Campaign, Response


class SecondOpinionQuerySet(models.QuerySet["SecondOpinion"]):
    def of(self, campaign: Campaign) -> Self:
        return self.filter(campaign=campaign)

    def wanted(self) -> Self:
        """Those that were not withdrawn. Two reviewers must agree about their responses."""
        return self.filter(withdrawn_at=None)


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
