"""The list of a team's campaigns."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotate.kinds import KINDS
from annotate.models import Campaign, CampaignStatus, Right
from annotate.pages.listing import FilterForm, choice, csv_file, search, wants_csv
from annotate.pages.paging import page_of
from annotate.pages.signed_in import current_team, rights_in
from hits.queries.statistics import overviews

CSV_HEAD = ["campaign", "task", "status", "created_at", "tasks", "wanted", "answered", "releases"]
LATEST = "created"


class CampaignFilters(FilterForm):
    orders = {LATEST: ("-created_at", "-pk"), "name": ("slug",), "status": ("status", "slug")}
    name = search("Name contains", max_length=100)
    kind = choice("Task", [(kind.name, kind.label) for kind in KINDS.values()])
    status = choice("Status", CampaignStatus.choices)


@require_safe
def campaigns(request: HttpRequest) -> HttpResponseBase:
    """List the team's campaigns, the latest first; also as a CSV file."""
    team = current_team(request)
    filters = CampaignFilters(request)
    of_team = Campaign.objects.of_team(team)
    rows = _found(of_team, filters.chosen).annotate(release_count=Count("releases"))
    rows = rows.order_by(*filters.order_by)
    if wants_csv(request):
        sees_money = Right.SEE_MONEY in rights_in(request, team)
        head = [*CSV_HEAD, "budget"] if sees_money else CSV_HEAD
        return csv_file("campaigns", head, _cells(rows, sees_money=sees_money))
    page = page_of(rows, request, per_page=25)
    numbers = overviews(page)
    context = {
        "page": page,
        "campaigns": [(campaign, numbers[campaign.pk]) for campaign in page],
        "filters": filters,
    }
    return render(request, "hits/dashboard_campaigns.html", context)


def _found(rows: QuerySet[Campaign], chosen: dict[str, Any]) -> QuerySet[Campaign]:
    if name := chosen.pop("name", None):
        rows = rows.filter(slug__icontains=name)
    return rows.filter(**chosen)


def _cells(rows: Iterable[Campaign], *, sees_money: bool) -> Iterator[list[Any]]:
    found = list(rows)
    numbers = overviews(found)
    for campaign in found:
        progress = numbers[campaign.pk]
        cells = [
            campaign.slug,
            campaign.kind,
            campaign.get_status_display(),
            campaign.created_at.isoformat(),
            progress.tasks,
            progress.wanted,
            progress.answered,
            campaign.release_count,  # type: ignore[attr-defined]
        ]
        yield [*cells, campaign.budget] if sees_money else cells
