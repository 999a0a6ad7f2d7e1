"""Pages about a campaign's payments: bonuses, messages to workers, and statements."""

from collections.abc import Sequence

from django import forms
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from annotate.errors import DomainError
from annotate.models import Campaign, Right
from annotate.pages.listing import csv_file
from annotate.pages.paging import stretch_of
from annotate.pages.signed_in import campaign_of, posted
from hits.dashboard.bonus_file import BonusFileRefused, read_bonuses, written
from hits.models import Bonus, MessageStatus
from hits.queries.costs import spend
from hits.queries.pay import statements
from hits.services.bonuses import (
    BonusPreview,
    Wish,
    bonus_preview,
    key_of_wishes,
    plan_bonuses,
)

MOST_BYTES = 500_000
MESSAGES_SHOWN = 10
STATEMENT_HEAD = (
    "worker", "assignments_approved", "assignments_rejected", "assignments_waiting", "rewards",
    "bonuses", "paid", "fees", "cost",
)  # fmt: skip


class BonusFileForm(forms.Form):
    """A CSV file of bonuses: uploaded, or as the text that the preview sends on."""

    file = forms.FileField(
        required=False, help_text="CSV with the columns worker, amount and reason."
    )
    text = forms.CharField(
        required=False, max_length=MOST_BYTES, strip=False, widget=forms.HiddenInput
    )
    confirmed = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, object]:
        """Set `wishes` to what the file asks for."""
        values = super().clean() or {}
        file, text = values.get("file"), values.get("text", "")
        if file is not None:
            if file.size > MOST_BYTES:
                raise forms.ValidationError("The file is too large: at most 500 kB.")
            try:
                text = file.read().decode("utf-8-sig")
            except UnicodeDecodeError as error:
                raise forms.ValidationError("The file is not text in UTF-8.") from error
        if not str(text).strip():
            raise forms.ValidationError("Choose a CSV file.")
        try:
            values["wishes"] = read_bonuses(str(text))
        except BonusFileRefused as error:
            raise forms.ValidationError(str(error)) from error
        return values


@require_safe
def payments(request: HttpRequest, slug: str) -> HttpResponse:
    """The campaign's bonuses and messages, and what has been paid."""
    campaign = campaign_of(request, slug, may=Right.SEE_MONEY)
    return _payments(request, campaign, BonusFileForm())


@require_http_methods(["POST"])
def bonuses(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what the bonuses of a file cost, and plan them once that is confirmed."""
    campaign = campaign_of(request, slug, may=Right.PAY)
    form = BonusFileForm(posted(request), request.FILES or None)
    if not form.is_valid():
        return _payments(request, campaign, form, status=422)
    wishes = form.cleaned_data["wishes"]
    key = key_of_wishes(campaign, wishes)
    if form.cleaned_data["confirmed"] and plan(request, campaign, wishes, key):
        return redirect("hits:payments", slug)
    return preview_page(request, campaign, wishes, bonus_preview(campaign, wishes, key=key))


def plan(request: HttpRequest, campaign: Campaign, wishes: Sequence[Wish], key: str) -> bool:
    """Plan the bonuses; say what happened, and return whether they are planned."""
    try:
        planned = plan_bonuses(campaign=campaign, wishes=wishes, key=key, at=timezone.now())
    except DomainError as error:
        messages.warning(request, str(error))
        return False
    total = sum(bonus.amount + bonus.fee for bonus in planned)
    number = len(planned)
    messages.success(
        request,
        f"{number:,} bonus{'es' if number != 1 else ''} planned: ${total:,.2f} with fees. The "
        "next sync pays them.",
    )
    return True


def preview_page(
    request: HttpRequest, campaign: Campaign, wishes: list[Wish], preview: BonusPreview
) -> HttpResponse:
    context = {
        "campaign": campaign,
        "wishes": wishes[:100],
        "more": max(0, len(wishes) - 100),
        "number": len(wishes),
        "preview": preview,
        "text": written(wishes),
    }
    status = 409 if preview.obstacle else 200
    return render(request, "hits/bonus_preview.html", context, status=status)


def _payments(
    request: HttpRequest, campaign: Campaign, form: BonusFileForm, status: int = 200
) -> HttpResponse:
    rows = Bonus.objects.filter(assignment__hit__campaign=campaign)
    counted = {
        name: Count("recipients", filter=Q(recipients__status=value))
        for name, value in (
            ("sent", MessageStatus.SENT),
            ("planned", MessageStatus.PLANNED),
            ("unknown", MessageStatus.SENDING),
            ("failed", MessageStatus.NOT_REACHED),
        )
    }
    context = {
        "campaign": campaign,
        "form": form,
        "spend": spend(campaign),
        "stretch": stretch_of(
            rows.select_related("assignment__account__worker"), request, by=["-pk"], per_page=20
        ),
        "letters": campaign.worker_messages.annotate(**counted).select_related("sender")[
            :MESSAGES_SHOWN
        ],
    }
    return render(request, "hits/payments.html", context, status=status)


@require_safe
def statement(request: HttpRequest, slug: str) -> HttpResponseBase:
    """What the campaign paid to each worker, or to one (`?worker=`), as a CSV file."""
    campaign = campaign_of(request, slug, may=Right.SEE_MONEY)
    rows = (
        [
            one.pseudonym,
            one.approved,
            one.rejected,
            one.waiting,
            one.rewards,
            one.bonuses,
            one.paid,
            one.fees,
            one.cost,
        ]  # fmt: skip
        for one in statements(campaign, request.GET.get("worker", "")[:10])
    )
    return csv_file(f"{campaign.slug}-statement", STATEMENT_HEAD, rows)
