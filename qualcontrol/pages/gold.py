"""The page of gold items."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.models import Right
from accounts.pages.lists import page_of
from accounts.pages.signed_in import posted, refusals_shown, user_of
from annotate.kinds import KINDS
from annotate.lookups import campaign_of
from annotate.models import Campaign, Response, Task
from qualcontrol.models import Gold
from qualcontrol.pages.forms import MarkGoldForm, SeedGoldForm
from qualcontrol.review.gold import gold_known_to, mark_gold, seed_gold

# Responses and images that the page offers.
AT_ONCE = 12


@require_http_methods(["GET", "HEAD", "POST"])
def gold(request: HttpRequest, slug: str) -> HttpResponse:
    """The gold items that the reviewer may see, with their results, and the two forms to add
    one."""
    campaign = campaign_of(request, slug, may=Right.REVIEW)
    is_seed = "text" in request.POST
    mark = MarkGoldForm(campaign, None if is_seed else posted(request))
    seed = SeedGoldForm(campaign, posted(request) if is_seed else None, auto_id="seed_%s")
    form = seed if is_seed else mark
    if form.is_valid() and _make(request, form.cleaned_data, is_seed=is_seed):
        return redirect("qualcontrol:gold", slug)
    items = gold_known_to(user_of(request), campaign)
    asked = request.POST.get("response") or request.GET.get("response", "")
    images = Paginator(_images(campaign, items), AT_ONCE).get_page(request.GET.get("images"))
    context = {
        "campaign": campaign,
        "kind": KINDS[campaign.kind],
        "page": page_of(items, request),
        "hidden": campaign.gold.count() - items.count(),
        "mark_form": mark,
        "response": _unjudged(campaign, asked),
        "asked": asked,
        "judged": _judged(campaign, items, asked),
        "images": images,
        "chosen_image": seed["task"].value(),
        "seed_form": seed,
        "may_seed": KINDS[campaign.kind].takes_text,
    }
    status = 422 if mark.errors or seed.errors else 200
    return render(request, "qualcontrol/gold.html", context, status=status)


def _responses(campaign: Campaign) -> QuerySet[Response]:
    related = ("task__image", "spot_check", *KINDS[campaign.kind].answer_relations)
    return Response.objects.of(campaign).filter(withdrawn_at=None).select_related(*related)


def _judged(campaign: Campaign, items: QuerySet[Gold], asked: str) -> list[Response]:
    """The latest responses with a verdict, and the one that was asked for."""
    judged = _responses(campaign).exclude(spot_check=None).exclude(spot_check__verdict="")
    latest = judged.exclude(gold__in=items).order_by("-spot_check__judged_at", "-pk")[:AT_ONCE]
    chosen = judged.filter(pk=asked) if is_key(asked) else judged.none()
    return list(dict.fromkeys([*chosen, *latest]))


def _unjudged(campaign: Campaign, asked: str) -> Response | None:
    """The response that was asked for, if it needs a verdict."""
    if not is_key(asked):
        return None
    responses = _responses(campaign).filter(pk=asked)
    return responses.filter(Q(spot_check=None) | Q(spot_check__verdict="")).first()


def is_key(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19


def _images(campaign: Campaign, items: QuerySet[Gold]) -> QuerySet[Task]:
    """The campaign's images without a made-up caption that the reviewer knows of. The others must
    not give away where one is."""
    made_up = items.filter(task=OuterRef("pk"), response=None).order_by()
    return campaign.tasks.filter(~Exists(made_up)).select_related("image").order_by("number", "pk")


def _make(request: HttpRequest, values: Any, *, is_seed: bool) -> bool:
    """Add the gold item of a valid form, with a message. Returns whether it was added."""
    make = seed_gold if is_seed else mark_gold
    with refusals_shown(request):
        make(**values, actor=user_of(request), at=timezone.now())
        messages.success(request, "Gold item added.")
        return True
    return False
