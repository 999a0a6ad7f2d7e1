"""The decision log's page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotate.kinds import KINDS
from annotate.models import Campaign
from annotate.pages.paging import page_of
from qualcontrol.queries.decision_log import visible_to_reviewers


@require_safe
def decisions(request: HttpRequest, slug: str) -> HttpResponse:
    """The campaign's decision log, the latest entry first."""
    campaign = get_object_or_404(Campaign, slug=slug)
    content = (f"response__{name}" for name in KINDS[campaign.kind].answer_relations)
    log = visible_to_reviewers(campaign.decisions.all()).select_related(
        "actor", "worker", "response__worker", *content
    )
    context = {"campaign": campaign, "page": page_of(log, request)}
    return render(request, "qualcontrol/decisions.html", context)
