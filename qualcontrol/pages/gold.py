"""The page of gold items."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotate.errors import DomainError
from annotate.kinds import KINDS
from annotate.models import Campaign, Response, Right
from annotate.pages.paging import page_of
from annotate.pages.signed_in import campaign_of, posted, user_of
from qualcontrol.pages.forms import MarkGoldForm, SeedGoldForm
from qualcontrol.queries.gold import gold_known_to
from qualcontrol.review.gold import mark_gold, seed_gold


@require_http_methods(["GET", "HEAD", "POST"])
def gold(request: HttpRequest, slug: str) -> HttpResponse:
    """The gold items that the reviewer may see, with their results, and the two forms to add
    one."""
    campaign = campaign_of(request, slug, may=Right.REVIEW)
    is_seed = "text" in request.POST
    mark = MarkGoldForm(None if is_seed else posted(request))
    seed = SeedGoldForm(campaign, posted(request) if is_seed else None, auto_id="seed_%s")
    form = seed if is_seed else mark
    if form.is_valid() and _make(request, campaign, form.cleaned_data, is_seed=is_seed):
        return redirect("qualcontrol:gold", slug)
    items = gold_known_to(user_of(request), campaign)
    context = {
        "campaign": campaign,
        "kind": KINDS[campaign.kind],
        "page": page_of(items, request),
        "hidden": campaign.gold.count() - items.count(),
        "mark_form": mark,
        "seed_form": seed,
        "may_seed": KINDS[campaign.kind].takes_text,
    }
    status = 422 if mark.errors or seed.errors else 200
    return render(request, "qualcontrol/gold.html", context, status=status)


def _make(request: HttpRequest, campaign: Campaign, values: Any, *, is_seed: bool) -> bool:
    """Add the gold item of a valid form, with a message. Returns whether it was added."""
    values = {**values, "actor": user_of(request), "at": timezone.now()}
    try:
        if is_seed:
            seed_gold(**values)
        else:
            pk = values.pop("response")
            response = Response.objects.of(campaign).filter(pk=pk).first()
            if response is None:
                name = KINDS[campaign.kind].answer_name
                raise DomainError(f"{campaign} has no {name} number {pk}.")
            mark_gold(response=response, **values)
    except DomainError as error:
        messages.warning(request, str(error))
        return False
    messages.success(request, "Gold item added.")
    return True
