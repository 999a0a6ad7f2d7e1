"""A campaign's overview: what a person has to do next, and what stands before the release.

Its upper part refreshes itself. Its numbers come from counters and a few indexed reads, so that
it takes the same queries for a hundred tasks and for a hundred thousand.
"""

from datetime import datetime
from hashlib import blake2s
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.pages.signed_in import rights_in
from annotate.kinds import KINDS
from annotate.models import Campaign, CampaignStatus, Release, Response, ResponseStatus
from annotate.pages.lookups import campaign_of
from annotate.queries.progress import Progress, progress, progress_by_campaign
from hits.models import HitStatus
from hits.pages.charts import course_path, distribution_bars, hour_bars, pay_chart
from hits.pages.new_campaign.advice import MINIMUM_WAGE
from hits.pages.next_steps import how_people_get_in, next_steps
from hits.pages.sync_states import sync_state
from hits.queries.costs import ZERO, outstanding_slots, slot_cost, spend
from hits.queries.statistics import (
    Hour,
    assignments_at_work,
    measured_pay,
    responses_per_hour,
    responses_so_far,
    time_left,
)
from qualcontrol.models import SpotCheck
from qualcontrol.queries.decision_log import visible_to_reviewers
from qualcontrol.queries.quality_report import estimate_of
from qualcontrol.queries.workers import latest_workers, worker_summaries

MOST_ACTIVE = 8
MOST_PROBLEMS = 20
EVENTS_SHOWN = 6


@require_safe
def campaign(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a campaign's overview."""
    found = _look_up(request, slug)
    at = timezone.now()
    hours = responses_per_hour(found, at=at)
    context = {
        **_live(request, found, hours, at),
        "hours": hours,
        "hour_bars": hour_bars(hours),
        "busiest": max(hour.responses for hour in hours),
        "workers": worker_summaries(found, latest_workers(found, most=MOST_ACTIVE)),
        "sync_problems": found.sync_problems.all()[:MOST_PROBLEMS],
        "sync_state": sync_state(found, at=at),
        "releases": Release.objects.of_campaign(found)[:5],
        "family": _family(found),
    }
    return render(request, "hits/overview.html", context)


def _family(found: Campaign) -> list[tuple[Campaign, Progress]]:
    """The campaigns of the same images in all languages with their progress; empty if this is the
    only one."""
    if not found.family:
        return []
    members = list(Campaign.objects.family_of(found))
    numbers = progress_by_campaign(members)
    return [(member, numbers[member.pk]) for member in members]


@require_safe
def overview_live(request: HttpRequest, slug: str) -> HttpResponse:
    """The part that refreshes itself; nothing if the page has it already."""
    found, at = _look_up(request, slug), timezone.now()
    context = _live(request, found, responses_per_hour(found, at=at), at)
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    return render(request, "hits/overview_live.html", context)


@require_safe
def course(request: HttpRequest, slug: str) -> HttpResponse:
    """The chart of the responses over time, which reads them all, so that the page loads it later.
    Without htmx, a page of its own."""
    found, at = _look_up(request, slug), timezone.now()
    so_far = responses_so_far(found, at=at)
    wanted = progress(found).wanted
    context = {
        "campaign": found,
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


def _live(request: HttpRequest, found: Campaign, hours: list[Hour], at: datetime) -> dict[str, Any]:
    """The variables of the part that refreshes itself; `seen` changes if one of them does."""
    kind, numbers = KINDS[found.kind], progress(found)
    money, pay = spend(found), measured_pay(found)
    discarded = Response.objects.of(found).filter(status=ResponseStatus.DISCARDED)
    open_checks, last_sync = SpotCheck.objects.of(found).open().count(), found.syncs.first()
    left = time_left(hours, missing=numbers.missing)
    is_running = found.status == CampaignStatus.RUNNING
    slots = outstanding_slots(found)
    unplanned = max(0, numbers.pages(found.config) - slots)
    log = visible_to_reviewers(found.decisions.all())
    context = {
        "campaign": found,
        "progress": numbers,
        "discarded": discarded.count(),
        "distribution_bars": distribution_bars(numbers.steps, kind),
        "being_written": assignments_at_work(found) * found.config.hit.images,
        "steps": next_steps(
            found,
            progress=numbers,
            spend=money,
            open_checks=open_checks,
            last_sync=last_sync,
            rights=rights_in(request, found.team),
        ),
        "entrances": how_people_get_in(found, numbers),
        "open_slots": slots,
        "hits_out": found.hits.filter(status=HitStatus.OPEN).count(),
        "rate": _rate(hours),
        "complete_at": at + left if left and is_running else None,
        "to_come": unplanned * slot_cost(found),
        "spend": money,
        "pay": pay,
        "pay_chart": pay_chart(pay) if pay else None,
        "is_low_pay": pay is not None and ZERO < pay.per_hour < MINIMUM_WAGE,
        "minimum_wage": MINIMUM_WAGE,
        "open_checks": open_checks,
        "last_sync": last_sync,
        "quality": estimate_of(found, numbers.submitted),
        "events": list(
            log.select_related("actor", "worker", "response__worker").order_by("-pk")[:EVENTS_SHOWN]
        ),
    }
    return {**context, "seen": _digest(context, found)}


def _rate(hours: list[Hour]) -> float:
    """Responses per hour, from the hours in which there were any; the current one is not over."""
    counted = [hour.responses for hour in hours[:-1]]
    while counted and not counted[0]:
        del counted[0]
    return sum(counted) / len(counted) if counted else 0.0


def _digest(context: dict[str, Any], found: Campaign) -> str:
    shown = {name: value for name, value in context.items() if name not in {"complete_at"}}
    shown["events"] = [event.pk for event in context["events"]]
    shown["last_sync"] = context["last_sync"] and context["last_sync"].error
    shown["status"] = found.status
    return blake2s(repr(sorted(shown.items())).encode(), digest_size=8).hexdigest()
