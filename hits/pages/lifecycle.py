"""Pages that publish, pause, finish and sync a campaign, and change a published one: its budget,
the reward of new HITs, and the share of spot checks."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Right
from accounts.pages.signed_in import refusals_shown, user_of
from annotate.kinds import KINDS
from annotate.kinds.steps import Dollars, Percent
from annotate.lookups import campaign_of
from annotate.models import Campaign, CampaignStatus
from annotate.queries.progress import progress
from background.tasks import announce_job
from corpora.errors import DomainError
from hits.mturk.endpoints import endpoint_of
from hits.queries.costs import (
    estimate,
    family_estimate,
    shortfall,
    slot_cost,
    spend,
    work_under_way,
)
from hits.services import lifecycle
from hits.services.syncs import ask_for_sync, sync_state
from qualcontrol.models import HeldPayment, SpotCheck
from shared.number_fields import AmountField, WholeNumberField


class PublishForm(forms.Form):
    """The work, the cost and the budget that the page showed, the latest change of status then (0
    if there was none), and a confirmation that real money is spent."""

    responses = WholeNumberField(required=False, widget=forms.HiddenInput)
    reward = AmountField(required=False, widget=forms.HiddenInput)
    cost = AmountField(required=False, widget=forms.HiddenInput)
    budget = AmountField(required=False, widget=forms.HiddenInput)
    last_move = WholeNumberField(required=False, widget=forms.HiddenInput)
    confirmed = forms.BooleanField(required=False)

    @property
    def seen(self) -> dict[str, Any]:
        """What the page showed, as far as it was sent."""
        sent = {
            name: value
            for name, value in self.cleaned_data.items()
            if name != "confirmed" and value is not None
        }
        return sent | ({"last_move": None} if sent.get("last_move") == 0 else {})

    @property
    def is_confirmed(self) -> bool:
        """Whether the person has confirmed amounts that the page showed."""
        return bool(self.cleaned_data["confirmed"] and {"cost", "budget"} <= self.seen.keys())


@require_http_methods(["GET", "HEAD", "POST"])
def publish(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the cost of publishing a campaign, and publish it; with `invite` in the address, go on
    to the page that invites people."""
    campaign = campaign_of(request, slug, may=Right.MANAGE)
    if request.method == "POST":
        form = PublishForm(request.POST)
        if not form.is_valid():
            messages.warning(request, "Load this page again: it was sent incompletely.")
            return redirect(request.get_full_path())
        with refusals_shown(request):
            lifecycle.ask_to_publish(
                campaign=campaign,
                confirmed=form.is_confirmed,
                seen=lifecycle.terms_of(campaign)._replace(**form.seen),
                actor=user_of(request),
                at=timezone.now(),
            )
            announce_job()
            return redirect("hits:invite", slug) if "invite" in request.GET else redirect(campaign)
        return redirect(request.get_full_path())
    cost = estimate(campaign)
    shown = {
        "responses": cost.responses,
        "reward": cost.reward,
        "cost": cost.total,
        "budget": campaign.budget,
        "last_move": lifecycle.last_move_of(campaign) or 0,
    }
    context = {
        "campaign": campaign,
        "form": PublishForm(initial=shown),
        "estimate": cost,
        "family": family_estimate(campaign),
        "fault_of_title": KINDS[campaign.kind].fault_of_title(campaign.config),
        "spend": spend(campaign),
        "marketplace": endpoint_of(campaign.endpoint),
    }
    return render(request, "hits/publish.html", context)


# What ends the work of a campaign for now, or for good, and is confirmed on a page.
MOVES: dict[str, Callable[..., None]] = {"pause": lifecycle.pause, "finish": lifecycle.finish}


@require_http_methods(["GET", "HEAD", "POST"])
def move(request: HttpRequest, slug: str, act: str) -> HttpResponse:
    """Show what one of MOVES does; on POST, make it and sync the campaign."""
    campaign = campaign_of(request, slug, may=Right.MANAGE)
    if request.method == "POST":
        with refusals_shown(request):
            MOVES[act](campaign=campaign, actor=user_of(request), at=timezone.now())
            return _sync(request, campaign)
        return redirect(campaign)
    context = {
        "campaign": campaign,
        "progress": progress(campaign),
        "spend": spend(campaign),
        "work": work_under_way(campaign),
        "open_checks": SpotCheck.objects.of(campaign).open().count(),
        "held": HeldPayment.objects.of(campaign).open().count(),
    }
    return render(request, f"hits/{act}.html", context)


@require_POST
def sync(request: HttpRequest, slug: str) -> HttpResponse:
    """Request a sync of the campaign now."""
    return _sync(request, campaign_of(request, slug, may=Right.MANAGE))


@require_safe
def sync_progress(request: HttpRequest, slug: str) -> HttpResponse:
    """Render the state of the campaign's sync, which the campaign's page reloads.

    Empty if there is nothing to show.
    """
    campaign = campaign_of(request, slug)
    context = {"campaign": campaign, "sync_state": sync_state(campaign, at=timezone.now())}
    return render(request, "hits/sync.html", context)


def _sync(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Request a sync, which runs as a job."""
    with refusals_shown(request):
        ask_for_sync(campaign=campaign, user=user_of(request), at=timezone.now())
        announce_job()
    return redirect(campaign)


class ChangeForm(forms.Form):
    """A new value, the value that the page showed, and a note for the decision log."""

    seen = forms.CharField(widget=forms.HiddenInput, max_length=40)
    note = forms.CharField(
        required=False,
        max_length=900,
        help_text="Optional. Kept in the decision log.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    @staticmethod
    def present(campaign: Campaign) -> object:
        """The present value."""
        raise NotImplementedError

    def change(self, campaign: Campaign, **by: Any) -> str:
        """Make the change and return what is so now."""
        raise NotImplementedError


class BudgetForm(ChangeForm):
    value = Dollars(label="Add to the budget, in US dollars", least="0.01", most="99999999.00")

    @staticmethod
    def present(campaign: Campaign) -> object:
        return campaign.budget

    def change(self, campaign: Campaign, **by: Any) -> str:
        amount, seen = self.cleaned_data["value"], Decimal(self.cleaned_data["seen"])
        lifecycle.add_to_budget(campaign=campaign, amount=amount, seen=seen, **by)
        return f"The budget is ${campaign.budget:,.2f} now."


class RewardForm(ChangeForm):
    value = Dollars(label="New reward, in US dollars", least="0.01", most="999999.99")

    @staticmethod
    def present(campaign: Campaign) -> object:
        return campaign.config.hit.reward

    def change(self, campaign: Campaign, **by: Any) -> str:
        reward, seen = self.cleaned_data["value"], Decimal(self.cleaned_data["seen"])
        changed = lifecycle.change_reward(campaign=campaign, reward=reward, seen=seen, **by)
        return f"New work pays a reward of ${changed.config.hit.reward}."


class ShareForm(ChangeForm):
    value = Percent(label="New share, in per cent")

    @staticmethod
    def present(campaign: Campaign) -> object:
        return campaign.config.review.share

    def change(self, campaign: Campaign, **by: Any) -> str:
        share, seen = self.cleaned_data["value"] / 100, float(self.cleaned_data["seen"])
        changed = lifecycle.raise_review_share(
            campaign=campaign, share=round(share, 8), seen=seen, **by
        )
        return f"{changed.config.review.share * 100:g}% of all answers are checked now."


FORMS: dict[str, type[ChangeForm]] = {
    "budget": BudgetForm,
    "reward": RewardForm,
    "share": ShareForm,
}


@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what can be changed and what a change does, and make one change."""
    campaign = campaign_of(request, slug, may=Right.MANAGE)
    if campaign.status in {CampaignStatus.DRAFT, CampaignStatus.FINISHED}:
        messages.info(request, "Only published campaigns that are not finished are changed here.")
        return redirect(campaign)
    shown = {
        name: form(prefix=name, initial={"seen": str(form.present(campaign))})
        for name, form in FORMS.items()
    }
    chosen = request.POST.get("what", "")
    if request.method == "POST" and chosen in FORMS:
        form = shown[chosen] = FORMS[chosen](request.POST, prefix=chosen)
        if form.is_valid() and _is_changed(request, campaign, form):
            return redirect("hits:change", slug)
    money = spend(campaign)
    context = {
        "campaign": campaign,
        "spend": money,
        "slot_cost": slot_cost(campaign.config),
        "short": shortfall(campaign, money),
        "work": work_under_way(campaign),
        **shown,
    }
    status = 422 if any(form.errors for form in shown.values()) else 200
    return render(request, "hits/changes.html", context, status=status)


def _is_changed(request: HttpRequest, campaign: Campaign, form: ChangeForm) -> bool:
    """Make the change and say so, or show why it is not possible."""
    reason, actor = form.cleaned_data["note"], user_of(request)
    try:
        message = form.change(campaign, reason=reason, actor=actor, at=timezone.now())
    except DomainError as error:
        form.add_error("value", str(error))
        return False
    except (ArithmeticError, ValueError):
        form.add_error("value", "Load this page again: it was sent incompletely.")
        return False
    messages.success(request, message)
    return True
