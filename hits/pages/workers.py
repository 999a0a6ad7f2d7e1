"""Exclude a worker, and act on several workers at once: exclude, reinstate, pay a bonus, send a
message."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.crypto import get_random_string
from django.views.decorators.http import require_http_methods

from accounts.models import Right
from accounts.pages.signed_in import decided, form_page, posted, refusals_shown, user_of
from annotate.kinds import KINDS
from annotate.lookups import campaign_of
from annotate.models import Campaign, Worker
from corpora.errors import DomainError
from corpora.wording import counted
from hits.pages.payments import plan
from hits.queries.costs import fee_for, slot_cost, spend
from hits.services.bonuses import MOST, Wish
from hits.services.messages import MOST_SUBJECT, MOST_TEXT, plan_message
from qualcontrol.models import WorkerRisk
from qualcontrol.pages.forms import ReasonForm
from qualcontrol.queries.workers import known_workers, worker_summaries
from qualcontrol.services.exclusions import exclude_worker, exclusion_preview, reinstate_worker
from shared.number_fields import AmountField
from shared.text_areas import TextArea

MOST_SELECTED = 200


class BonusForm(forms.Form):
    """The same bonus for each selected worker. `key` keeps a form from being carried out twice."""

    amount = AmountField(
        label="Bonus for each worker, in dollars",
        min_value=Decimal("0.01"),
        max_value=MOST,
        decimal_places=2,
    )
    reason = forms.CharField(
        max_length=1024,
        widget=TextArea(attrs={"rows": 3}),
        help_text="The worker reads this text word for word.",
    )
    key = forms.SlugField(max_length=40, widget=forms.HiddenInput)


class MessageForm(forms.Form):
    """A message to the selected workers."""

    subject = forms.CharField(max_length=MOST_SUBJECT)
    text = forms.CharField(
        max_length=MOST_TEXT,
        widget=TextArea(attrs={"rows": 8}),
        help_text="The marketplace sends it. Workers do not see each other.",
    )
    key = forms.SlugField(max_length=40, widget=forms.HiddenInput)


@require_http_methods(["GET", "HEAD", "POST"])
def exclude(request: HttpRequest, slug: str, pseudonym: str) -> HttpResponse:
    """Show what an exclusion discards and what replacing it costs, and exclude the worker."""
    campaign = campaign_of(request, slug, may=Right.REVIEW)
    worker = get_object_or_404(known_workers(campaign), pseudonym=pseudonym)
    form = ReasonForm(posted(request))

    def decide(reason: str) -> str:
        discarded = exclude_worker(
            campaign=campaign,
            worker=worker,
            reason=reason,
            actor=user_of(request),
            at=timezone.now(),
        )
        return f"{worker} is excluded; {KINDS[campaign.kind].answers_name} discarded: {discarded}."

    if decided(request, form, decide):
        return redirect("qualcontrol:worker", slug, pseudonym)
    context = {
        "campaign": campaign,
        "worker": worker,
        "preview": exclusion_preview(
            campaign=campaign, workers=[worker], slot_cost=slot_cost(campaign.config)
        ),
        "spend": spend(campaign),
        "worker_risk": WorkerRisk.objects.of(campaign).filter(worker=worker).first(),
    }
    return form_page(request, "hits/exclude.html", form, context)


@require_http_methods(["GET", "HEAD", "POST"])
def selected(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what an action on the selected workers does, and do it."""
    fields = request.POST if request.method == "POST" else request.GET
    name = fields.get("act", "")
    act = ACTS.get(name)
    campaign = campaign_of(request, slug, may=act.needs if act else Right.VIEW)
    if act is None:
        raise Http404(f"There is no action {name!r}.")
    names = list(dict.fromkeys(fields.getlist("worker")))[:MOST_SELECTED]
    workers = list(known_workers(campaign).filter(pseudonym__in=names).order_by("pseudonym"))
    if not workers:
        messages.info(request, "Select at least one worker.")
        return redirect("qualcontrol:workers", slug)
    form = act.form(posted(request), initial={"key": get_random_string(32)})
    if request.method == "POST" and form.is_valid() and act.do(request, campaign, workers, form):
        if len(workers) == 1:
            return redirect("qualcontrol:worker", slug, workers[0].pseudonym)
        return redirect("qualcontrol:workers", slug)
    context = {
        "campaign": campaign,
        "act": name,
        "workers": worker_summaries(campaign, [worker.pk for worker in workers]),
        "spend": spend(campaign),
        **_preview(campaign, name, workers),
    }
    return form_page(request, "hits/selected_workers.html", form, context)


def _preview(campaign: Campaign, act: str, workers: list[Worker]) -> dict[str, Any]:
    if act != "exclude":
        return {"least_fee": fee_for(Decimal("0.01"))}
    risks = WorkerRisk.objects.of(campaign).filter(worker__in=workers).select_related("worker")
    return {
        "preview": exclusion_preview(
            campaign=campaign, workers=workers, slot_cost=slot_cost(campaign.config)
        ),
        "favoured": [risk.worker for risk in risks if risk.favours_worker],
    }


def _one_by_one(
    request: HttpRequest,
    campaign: Campaign,
    workers: list[Worker],
    form: forms.Form,
    *,
    service: Callable[..., int],
    done: str,
    moved: str,
) -> bool:
    """Decide about each worker in its own transaction, so that one that is not possible now stops
    no other."""
    number, responses = 0, 0
    for worker in workers:
        with refusals_shown(request):
            responses += service(
                campaign=campaign,
                worker=worker,
                reason=form.cleaned_data["reason"],
                actor=user_of(request),
                at=timezone.now(),
            )
            number += 1
    if number:
        answers = KINDS[campaign.kind].answers_name
        messages.success(
            request, f"{counted(number, 'worker')} {done}; {answers} {moved}: {responses:,}."
        )
    return True


def _bonus(
    request: HttpRequest, campaign: Campaign, workers: list[Worker], form: forms.Form
) -> bool:
    amount, reason = form.cleaned_data["amount"], form.cleaned_data["reason"]
    wishes = [Wish(worker.pseudonym, amount, reason) for worker in workers]
    return plan(request, campaign, wishes, form.cleaned_data["key"])


def _message(
    request: HttpRequest, campaign: Campaign, workers: list[Worker], form: forms.Form
) -> bool:
    try:
        plan_message(
            campaign=campaign,
            pseudonyms=[worker.pseudonym for worker in workers],
            subject=form.cleaned_data["subject"],
            text=form.cleaned_data["text"],
            key=form.cleaned_data["key"],
            sender=user_of(request),
            at=timezone.now(),
        )
    except DomainError as error:
        messages.warning(request, str(error))
        return False
    to = counted(len(workers), "worker")
    messages.success(request, f"Message to {to} stored. The next sync sends it.")
    return True


class Act(NamedTuple):
    """An action: what it asks for, the right that it needs, and what carries it out, which returns
    whether it is done."""

    form: type[forms.Form]
    needs: Right
    do: Callable[[HttpRequest, Campaign, list[Worker], forms.Form], bool]


_exclude = partial(_one_by_one, service=exclude_worker, done="excluded", moved="discarded")
_reinstate = partial(_one_by_one, service=reinstate_worker, done="reinstated", moved="restored")
ACTS = {
    "exclude": Act(ReasonForm, Right.REVIEW, _exclude),
    "reinstate": Act(ReasonForm, Right.REVIEW, _reinstate),
    "bonus": Act(BonusForm, Right.PAY, _bonus),
    "message": Act(MessageForm, Right.MANAGE, _message),
}
