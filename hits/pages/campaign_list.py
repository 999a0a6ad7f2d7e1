"""The list of a team's campaigns."""

from collections.abc import Mapping

from django.db.models import Func
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.models import Right
from accounts.pages.listing import FilterForm, choice, csv_file, search, wants_csv
from accounts.pages.paging import page_of
from accounts.pages.signed_in import current_team, rights_in
from annotate.kinds import KINDS
from annotate.models import Campaign, CampaignStatus, Release
from annotate.queries.progress import Progress, progress_by_campaign
from shared.tables import Column

LATEST = "created"


class CampaignFilters(FilterForm):
    orders = {LATEST: ("-created_at", "-pk"), "name": ("slug",), "status": ("status", "slug")}
    lookups = {"name": "slug__icontains"}
    name = search("Name contains", max_length=100)
    kind = choice("Task", [(kind.name, kind.label) for kind in KINDS.values()])
    status = choice("Status", CampaignStatus.choices)


@require_safe
def campaigns(request: HttpRequest) -> HttpResponseBase:
    """List the team's campaigns, the latest first; also as a CSV file."""
    team = current_team(request)
    filters = CampaignFilters(request)
    releases = Release.objects.of_outer_campaign().order_by()
    release_count = releases.annotate(count=Func("pk", function="COUNT")).values("count")
    rows = filters.found_in(Campaign.objects.of_team(team).annotate(release_count=release_count))
    if wants_csv(request):
        sees_money = Right.SEE_MONEY in rights_in(request, team)
        return csv_file(
            "campaigns", _columns(progress_by_campaign(rows), sees_money=sees_money), rows
        )
    page = page_of(rows, request, per_page=25)
    numbers = progress_by_campaign(page)
    context = {
        "page": page,
        "campaigns": [(campaign, numbers[campaign.pk]) for campaign in page],
        "filters": filters,
    }
    return render(request, "hits/campaign_list.html", context)


def _columns(numbers: Mapping[int, Progress], *, sees_money: bool) -> list[Column]:
    """The columns of the file."""
    columns = [
        Column("campaign", value=lambda row: row.slug),
        Column("task", value=lambda row: row.kind),
        Column("status", value=lambda row: row.get_status_display()),
        Column("created_at"),
        Column("tasks", value=lambda row: numbers[row.pk].tasks),
        Column("wanted", value=lambda row: numbers[row.pk].wanted),
        Column("answered", value=lambda row: numbers[row.pk].answered),
        Column("releases", value=lambda row: row.release_count),
    ]
    return [*columns, Column("budget")] if sees_money else columns
