"""The list of a team's campaigns, and a campaign's overview: what a person has to do next, and what
is missing for a release.

The overview's upper part refreshes itself. Its numbers come from counters and a few indexed reads,
so that it takes the same queries for a hundred tasks and for a hundred thousand.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2s
from itertools import count
from math import floor
from typing import Any

from django.db.models import Func
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.models import Right
from accounts.pages.lists import FilterForm, choice, csv_file, page_of, search, wants_csv
from accounts.rights import current_team, rights_in
from annotate.kinds import KINDS, TaskKind
from annotate.lookups import campaign_of
from annotate.models import Campaign, CampaignStatus, Release, Response, ResponseStatus
from annotate.queries.progress import Progress, Step, progress, progress_by_campaign
from corpora.wording import counted
from hits.models import HitStatus
from hits.pages.next_steps import how_people_get_in, next_steps, steps_of_reviewers
from hits.queries.costs import MINIMUM_WAGE, ZERO, outstanding_slots, slot_cost, spend
from hits.queries.statistics import (
    Hour,
    Moment,
    Pay,
    assignments_at_work,
    measured_pay,
    practised,
    rate_of,
    responses_per_hour,
    responses_so_far,
    time_left,
)
from hits.services.syncs import sync_state
from qualcontrol.models import SpotCheck
from qualcontrol.queries.decision_log import visible_to_reviewers
from qualcontrol.queries.quality_report import estimate_of
from qualcontrol.queries.workers import latest_workers, worker_summaries
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
    """List the team's campaigns, the latest first, and what waits for reviewers; also as a CSV
    file."""
    team = current_team(request)
    rights = rights_in(request, team)
    filters = CampaignFilters(request)
    releases = Release.objects.of_outer_campaign().order_by()
    release_count = releases.annotate(count=Func("pk", function="COUNT")).values("count")
    rows = filters.found_in(Campaign.objects.of_team(team).annotate(release_count=release_count))
    if wants_csv(request):
        sees_money = Right.SEE_MONEY in rights
        return csv_file(
            "campaigns", _columns(progress_by_campaign(rows), sees_money=sees_money), rows
        )
    page = page_of(rows, request, per_page=25)
    numbers = progress_by_campaign(page)
    context = {
        "page": page,
        "campaigns": [(campaign, numbers[campaign.pk]) for campaign in page],
        "filters": filters,
        "steps": steps_of_reviewers(team) if Right.REVIEW in rights else [],
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


MOST_ACTIVE = 8
MOST_PROBLEMS = 20
EVENTS_SHOWN = 6


@require_safe
def campaign(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a campaign's overview."""
    campaign = _look_up(request, slug)
    at = timezone.now()
    hours = responses_per_hour(campaign, at=at)
    context = {
        **_live(request, campaign, hours, at),
        "hours": hours,
        "hour_bars": hour_bars(hours),
        "busiest": max(hour.responses for hour in hours),
        "workers": worker_summaries(campaign, latest_workers(campaign, most=MOST_ACTIVE)),
        "sync_problems": campaign.sync_problems.all()[:MOST_PROBLEMS],
        "sync_state": sync_state(campaign, at=at),
        "releases": Release.objects.of_campaign(campaign)[:5],
        "family": _family(campaign),
        "practised": practised(campaign),
    }
    return render(request, "hits/overview.html", context)


def _family(campaign: Campaign) -> list[tuple[Campaign, Progress]]:
    """The campaigns of the same images in all languages with their progress; empty if this is the
    only one."""
    if not campaign.family:
        return []
    members = list(Campaign.objects.family_of(campaign))
    numbers = progress_by_campaign(members)
    return [(member, numbers[member.pk]) for member in members]


@require_safe
def overview_live(request: HttpRequest, slug: str) -> HttpResponse:
    """The part that refreshes itself; nothing if the page has it already."""
    campaign, at = _look_up(request, slug), timezone.now()
    context = _live(request, campaign, responses_per_hour(campaign, at=at), at)
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    return render(request, "hits/overview_live.html", context)


@require_safe
def course(request: HttpRequest, slug: str) -> HttpResponse:
    """The chart of the responses over time, which reads them all, so that the page loads it later.
    Without htmx, its own page."""
    campaign, at = _look_up(request, slug), timezone.now()
    so_far = responses_so_far(campaign, at=at)
    wanted = progress(campaign).wanted
    context = {
        "campaign": campaign,
        "so_far": so_far,
        "course": course_path(so_far, wanted=wanted),
        "submitted": so_far[-1].responses if so_far else 0,
        "wanted": wanted,
    }
    is_part = bool(request.headers.get("HX-Request"))
    return render(request, "hits/course.html" if is_part else "hits/course_page.html", context)


def _look_up(request: HttpRequest, slug: str) -> Campaign:
    related = Campaign.objects.select_related("selection", "caption_set")
    return campaign_of(request, slug, rows=related)


def _live(
    request: HttpRequest, campaign: Campaign, hours: list[Hour], at: datetime
) -> dict[str, Any]:
    """The variables of the part that refreshes itself; `seen` changes if one of them does."""
    kind, numbers = KINDS[campaign.kind], progress(campaign)
    money, pay = spend(campaign), measured_pay(campaign)
    discarded = Response.objects.of(campaign).filter(status=ResponseStatus.DISCARDED)
    open_checks, last_sync = SpotCheck.objects.of(campaign).open().count(), campaign.syncs.first()
    left = time_left(hours, missing=numbers.missing)
    is_running = campaign.status == CampaignStatus.RUNNING
    slots = outstanding_slots(campaign)
    unplanned = max(0, numbers.pages(campaign.config) - slots)
    log = visible_to_reviewers(campaign.decisions.all())
    context = {
        "campaign": campaign,
        "progress": numbers,
        "discarded": discarded.count(),
        "distribution_bars": distribution_bars(numbers.steps, kind),
        "being_written": assignments_at_work(campaign) * campaign.config.hit.images,
        "steps": next_steps(
            campaign,
            progress=numbers,
            spend=money,
            open_checks=open_checks,
            last_sync=last_sync,
            rights=rights_in(request, campaign.team),
        ),
        "entrances": how_people_get_in(campaign, numbers),
        "open_slots": slots,
        "hits_out": campaign.hits.filter(status=HitStatus.OPEN).count(),
        "rate": rate_of(hours),
        "complete_at": at + left if left and is_running else None,
        "to_come": unplanned * slot_cost(campaign.config),
        "spend": money,
        "pay": pay,
        "pay_chart": pay_chart(pay) if pay else None,
        "is_low_pay": pay is not None and ZERO < pay.per_hour < MINIMUM_WAGE,
        "minimum_wage": MINIMUM_WAGE,
        "open_checks": open_checks,
        "last_sync": last_sync,
        "quality": estimate_of(campaign, numbers.submitted),
        "events": list(
            log.select_related("actor", "worker", "response__worker").order_by("-pk")[:EVENTS_SHOWN]
        ),
    }
    return {**context, "seen": _digest(context, campaign)}


def _digest(context: dict[str, Any], campaign: Campaign) -> str:
    shown = {name: value for name, value in context.items() if name not in {"complete_at"}}
    shown["events"] = [event.pk for event in context["events"]]
    shown["last_sync"] = context["last_sync"] and context["last_sync"].error
    shown["status"] = campaign.status
    return blake2s(repr(sorted(shown.items())).encode(), digest_size=8).hexdigest()


# Maximum number of bars in the chart of hourly pay.
PAY_BARS = 16


@dataclass(frozen=True)
class Bar:
    """A bar with its title, which says what it shows."""

    title: str
    x: float
    y: int
    width: float
    height: int
    label: str = ""
    count: int = 0


def bars(values: Sequence[int], titles: Sequence[str]) -> list[Bar]:
    """Bars next to each other; the highest has the height of the chart."""
    most, width = max(values, default=0) or 1, 100 / (len(values) or 1)
    heights = [round(value / most * 100) for value in values]
    return [
        Bar(
            title,
            round(index * width, 3),
            100 - height,
            round(max(width * 0.9, width - 1), 3),
            height,
            title.rpartition(": ")[0],
            values[index],
        )
        for index, (height, title) in enumerate(zip(heights, titles, strict=True))
    ]


def hour_bars(hours: Sequence[Hour]) -> list[Bar]:
    """One bar per hour, for the number of responses."""
    titles = [f"{hour.begins_at:%-d %b, %H:%M} UTC: {hour.responses}" for hour in hours]
    return bars([hour.responses for hour in hours], titles)


def distribution_bars(steps: Sequence[Step], kind: TaskKind) -> list[Bar]:
    """One bar per number of responses, with the number of tasks that have it."""
    titles = [
        f"{counted(step.responses, kind.answer_name, kind.answers_name)}: "
        f"{counted(step.tasks, kind.subject_name)}"
        for step in steps
    ]
    return bars([step.tasks for step in steps], titles)


def course_path(moments: Sequence[Moment], *, wanted: int) -> str:
    """The SVG path of the number of responses over time; empty without moments.

    The top of the chart is the number of wanted responses.
    """
    if not moments:
        return ""
    begins = moments[0].at
    whole = (moments[-1].at - begins).total_seconds() or 1.0
    top = max(wanted, moments[-1].responses) or 1
    points = [
        f"{(moment.at - begins).total_seconds() / whole * 100:.2f} "
        f"{100 - moment.responses / top * 100:.2f}"
        for moment in moments
    ]
    return "M" + "L".join(points)


@dataclass(frozen=True)
class PayChart:
    """Distribution of hourly pay: the bars, the dollars at the right edge, and the median's
    position."""

    bars: list[Bar]
    end: int
    median: float


def pay_chart(pay: Pay) -> PayChart:
    """The chart of hourly pay. Values above the 95th percentile are in the last bar."""
    most = sorted(pay.each)[floor(0.95 * (len(pay.each) - 1))]
    width = next(width for width in _round_numbers() if most < width * PAY_BARS)
    number = floor(most / width) + 1
    counts = Counter(min(floor(value / width), number - 1) for value in pay.each)
    titles = [
        f"${place * width:,} to ${(place + 1) * width:,} an hour: {counts[place]}"
        for place in range(number - 1)
    ]
    titles.append(f"${(number - 1) * width:,} an hour and more: {counts[number - 1]}")
    end = number * width
    return PayChart(
        bars([counts[place] for place in range(number)], titles),
        end,
        round(min(99.0, float(pay.per_hour) / end * 100), 2),
    )


def _round_numbers() -> Iterator[int]:
    """1, 2, 5, 10, 20, 50, and so on."""
    for power in count():
        for digit in (1, 2, 5):
            yield digit * 10**power
