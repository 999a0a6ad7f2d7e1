"""Find campaigns and releases among those of the user's teams, for pages and the API."""

from typing import Any

from django.shortcuts import get_object_or_404

from accounts.models import Right
from accounts.rights import require
from annotate.models import Campaign, Release
from annotate.models.campaigns import CampaignQuerySet


def campaign_of(
    request: Any, slug: str, *, may: Right = Right.VIEW, rows: CampaignQuerySet | None = None
) -> Campaign:
    """The campaign, if it is one of the user's teams', and the user has this right there.

    `rows` are the campaigns to look among, for example with related rows. Raises Http404 and
    PermissionDenied. `request.rights` then has the user's rights in the campaign's team.
    """
    rows = Campaign.objects.all() if rows is None else rows
    visible = rows.visible_to(request.user).select_related("team")
    campaign = get_object_or_404(visible, slug=slug)
    require(request, campaign.team, may)
    return campaign


def release_of(request: Any, name: str, *, may: Right = Right.VIEW) -> Release:
    """The release with its campaign; raises as `campaign_of` does."""
    rows = Release.objects.visible_to(request.user).select_related("campaign__team")
    release = get_object_or_404(rows, name=name)
    require(request, release.campaign.team, may)
    return release
