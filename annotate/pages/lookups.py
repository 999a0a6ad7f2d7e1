"""Find campaigns and releases among those of the user's teams."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from accounts.models import Right, Team
from accounts.rights import require
from annotate.models import Campaign, Release


def campaign_of(
    request: Any, slug: str, *, may: Right = Right.VIEW, rows: QuerySet[Campaign] | None = None
) -> Campaign:
    """The campaign, if it is one of the user's teams', and the user has this right there.

    `rows` are the campaigns to look among, for example with related rows. Raises Http404 and
    PermissionDenied. `request.rights` then has the user's rights in the campaign's team.
    """
    rows = Campaign.objects.all() if rows is None else rows
    visible = rows.select_related("team").filter(team__in=Team.objects.of(request.user))
    campaign = get_object_or_404(visible, slug=slug)
    require(request, campaign.team, may)
    return campaign


def release_of(request: Any, name: str, *, may: Right = Right.VIEW) -> Release:
    """The release with its campaign; raises as `campaign_of` does."""
    rows = Release.objects.visible_to(request.user).select_related("campaign__team")
    release = get_object_or_404(rows, name=name)
    require(request, release.campaign.team, may)
    return release
