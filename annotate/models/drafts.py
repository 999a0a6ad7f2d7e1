"""Drafts of campaign files, as the steps of the page *New campaign* keep them."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from annotate.models.campaigns import Campaign
from annotate.models.teams import Team


class CampaignDraftQuerySet(models.QuerySet["CampaignDraft"]):
    def of(self, owner: User) -> Self:
        return self.filter(owner=owner)

    def open(self) -> Self:
        """Drafts that were neither used nor deleted."""
        return self.filter(ended_at=None)


class CampaignDraft(models.Model):
    """A campaign file that a user prepares in steps.

    It is stored with each change, so that a reload or a second tab loses nothing.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="campaign_drafts")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="campaign_drafts"
    )
    # The campaign that the draft changes, or that was created from it. Null before that.
    campaign = models.ForeignKey(
        Campaign, models.CASCADE, null=True, blank=True, related_name="drafts"
    )
    # The campaign's file when the draft was begun; null if the draft is for a new campaign.
    begun_from = models.JSONField(null=True, blank=True)
    # Values of the campaign file so far. Keys that are missing have their defaults.
    file = models.JSONField(default=dict, blank=True)
    # What was typed and is not a valid value, by the key's full name.
    unfinished = models.JSONField(default=dict, blank=True)
    # Steps that were saved.
    visited = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = CampaignDraftQuerySet.as_manager()

    class Meta:
        ordering = ["-changed_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "campaign"],
                condition=Q(ended_at=None),
                name="draft_once_per_campaign_and_owner",
            ),
        ]

    def __str__(self) -> str:
        name = self.file.get("name")
        return name if isinstance(name, str) and name else "Unnamed draft"
