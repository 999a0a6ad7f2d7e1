"""The decision log's page."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotate.kinds import KINDS
from annotate.models import Campaign
from annotate.pages.listing import FilterForm, choice, csv_file, day, search, wants_csv
from annotate.pages.paging import stretch_of
from annotate.pages.signed_in import campaign_of
from qualcontrol.models import Act, Decision
from qualcontrol.queries.listing import DECISIONS_IN_ORDER, found_decisions

CSV_HEAD = ("at", "decision", "worker", "response", "answer", "reason", "by")


class DecisionFilters(FilterForm):
    act = choice("Decision", Act.choices)
    worker = search("Worker", max_length=10, placeholder="W-…")
    actor = search("By", max_length=150, placeholder="user name, campaign or command")
    reason = search("Reason contains")
    since = day("From")
    until = day("To")


@require_safe
def decisions(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The campaign's decision log, the latest entry first; also as a CSV file."""
    campaign = campaign_of(request, slug)
    filters = DecisionFilters(request)
    content = (f"response__{name}" for name in KINDS[campaign.kind].answer_relations)
    log = found_decisions(campaign, filters.chosen).select_related(
        "actor", "worker", "response__worker", "response__task", *content
    )
    if wants_csv(request):
        entries = log.order_by(*DECISIONS_IN_ORDER).iterator(chunk_size=2000)
        return csv_file(f"{campaign.slug}-decisions", CSV_HEAD, _cells(campaign, entries))
    context = {
        "campaign": campaign,
        "filters": filters,
        "stretch": stretch_of(log, request, by=DECISIONS_IN_ORDER),
    }
    return render(request, "qualcontrol/decisions.html", context)


def _cells(campaign: Campaign, entries: Iterable[Decision]) -> Iterator[list[Any]]:
    kind = KINDS[campaign.kind]
    for entry in entries:
        response = entry.response
        worker = entry.worker or (response.worker if response else None)
        yield [
            entry.at.isoformat(),
            entry.get_act_display(),
            worker.pseudonym if worker else "",
            response.pk if response else "",
            kind.summary(response) if response else "",
            entry.reason,
            entry.decided_by,
        ]
