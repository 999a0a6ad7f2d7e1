"""The page that changes a published campaign: budget, reward of new HITs, share of spot checks."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.models import Right
from accounts.pages.signed_in import user_of
from annotate.kinds.wizard import Dollars, Percent
from annotate.models import Campaign, CampaignStatus
from annotate.pages.lookups import campaign_of
from corpora.errors import DomainError
from hits.queries.costs import shortfall, slot_cost, spend
from hits.queries.under_way import work_under_way
from hits.services.changes import change_reward, raise_budget, raise_review_share


class ChangeForm(forms.Form):
    """A new value, the value that the page showed, and a note for the decision log."""

    seen = forms.CharField(widget=forms.HiddenInput, max_length=40)
    note = forms.CharField(
        required=False,
        max_length=900,
        help_text="Optional. Kept in the decision log.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    @property
    def note_text(self) -> str:
        return str(self.cleaned_data["note"])


class BudgetForm(ChangeForm):
    value = Dollars(label="Add to the budget, in US dollars", least="0.01", most="99999999.00")


class RewardForm(ChangeForm):
    value = Dollars(
        label="Reward for one assignment, in US dollars", least="0.01", most="999999.99"
    )


class ShareForm(ChangeForm):
    value = Percent(label="Share of all answers that a person checks, in per cent")


FORMS: dict[str, type[ChangeForm]] = {
    "budget": BudgetForm,
    "reward": RewardForm,
    "share": ShareForm,
}


@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what can be changed and what a change does, and make one change."""
    found = campaign_of(request, slug, may=Right.MANAGE)
    if found.status in {CampaignStatus.DRAFT, CampaignStatus.FINISHED}:
        messages.info(request, "Only published campaigns that are not finished are changed here.")
        return redirect(found)
    bound = {}
    chosen = request.POST.get("what", "")
    if request.method == "POST" and chosen in FORMS:
        form = FORMS[chosen](request.POST, prefix=chosen)
        if form.is_valid() and _is_changed(request, found, chosen, form):
            return redirect("hits:change", slug)
        bound = {chosen: form}
    money = spend(found)
    context = {
        "campaign": found,
        "spend": money,
        "slot_cost": slot_cost(found),
        "short": shortfall(found, money),
        "work": work_under_way(found),
        **{name: bound.get(name) or _empty(found, name) for name in FORMS},
    }
    status = 422 if any(form.errors for form in bound.values()) else 200
    return render(request, "hits/changes.html", context, status=status)


def _empty(campaign: Campaign, name: str) -> ChangeForm:
    seen = {
        "budget": campaign.budget,
        "reward": campaign.config.hit.reward,
        "share": campaign.config.review.share,
    }
    return FORMS[name](prefix=name, initial={"seen": str(seen[name])})


def _is_changed(request: HttpRequest, campaign: Campaign, name: str, form: ChangeForm) -> bool:
    """Make the change and say so, or show why it is not possible."""
    makers: dict[str, Callable[..., Any]] = {
        "budget": _budget,
        "reward": _reward,
        "share": _share,
    }
    common = {
        "campaign": campaign,
        "reason": form.note_text,
        "actor": user_of(request),
        "at": timezone.now(),
    }
    try:
        messages.success(request, makers[name](form, common))
    except DomainError as error:
        form.add_error("value", str(error))
        return False
    except (ArithmeticError, ValueError):
        form.add_error("value", "Load this page again: it was sent incompletely.")
        return False
    return True


def _budget(form: ChangeForm, common: dict[str, Any]) -> str:
    amount, seen = form.cleaned_data["value"], Decimal(form.cleaned_data["seen"])
    changed = raise_budget(amount=amount, seen=seen, **common)
    return f"The budget is ${changed.budget:,.2f} now."


def _reward(form: ChangeForm, common: dict[str, Any]) -> str:
    seen, reward = Decimal(form.cleaned_data["seen"]), form.cleaned_data["value"]
    changed = change_reward(reward=reward, seen=seen, **common)
    return f"New HITs pay ${changed.config.hit.reward} for one assignment."


def _share(form: ChangeForm, common: dict[str, Any]) -> str:
    share, seen = round(form.cleaned_data["value"] / 100, 8), float(form.cleaned_data["seen"])
    changed = raise_review_share(share=share, seen=seen, **common)
    return f"{changed.config.review.share * 100:g}% of all answers are checked now."
