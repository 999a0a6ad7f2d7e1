"""The decision log's page."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.pages.listing import FilterForm, choice, csv_file, day, search, wants_csv
from accounts.pages.paging import stretch_of
from annotate.kinds import KINDS
from annotate.models import Campaign
from annotate.pages.lookups import campaign_of
from qualcontrol.models import Act
from qualcontrol.queries.decision_log import DECISIONS_IN_ORDER, found_decisions
from shared.tables import Column


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
        return csv_file(f"{campaign.slug}-decisions", _columns(campaign), entries)
    context = {
        "campaign": campaign,
        "filters": filters,
        "stretch": stretch_of(log, request, by=DECISIONS_IN_ORDER),
    }
    return render(request, "qualcontrol/decisions.html", context)


def _columns(campaign: Campaign) -> list[Column]:
    """The columns of the file."""
    kind = KINDS[campaign.kind]
    return [
        Column("at"),
        Column("decision", value=lambda entry: entry.get_act_display()),
        Column("worker", value=lambda entry: entry.about_worker and entry.about_worker.pseudonym),
        Column("response", value=lambda entry: entry.response_id),
        Column("answer", value=lambda entry: entry.response and kind.summary(entry.response)),
        Column("reason"),
        Column("by", value=lambda entry: entry.decided_by),
    ]
