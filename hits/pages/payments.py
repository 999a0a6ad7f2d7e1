"""Pages about a campaign's payments: bonuses, messages to workers, statements, held payments with
the submitted answers, and rejections."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import Right
from accounts.pages.lists import csv_file, page_of, stretch_of
from accounts.pages.signed_in import decided, form_page, posted, user_of
from annotate.kinds import KINDS
from annotate.lookups import campaign_of
from annotate.models import Campaign, Response, Worker
from corpora.errors import DomainError
from corpora.reading.files import MalformedFile, decoded
from corpora.reading.tables import CsvFile
from hits.models import Bonus, MessageStatus
from hits.queries.costs import spend
from hits.queries.pay import answer_held, held_of, statements
from hits.services.bonuses import (
    MOST,
    BonusPreview,
    Wish,
    bonus_preview,
    key_of_wishes,
    plan_bonuses,
    reason_sent,
)
from hits.services.payments import accept_held, ask_for_rejection, reject_held
from qualcontrol.models import HeldPayment
from qualcontrol.pages.forms import RejectionForm
from qualcontrol.queries.workers import known_workers
from shared.number_fields import HOW, AmountField
from shared.tables import Column, csv_text

MOST_BYTES = 500_000
MESSAGES_SHOWN = 10
STATEMENT_COLUMNS = (
    Column("worker", value=lambda row: row.pseudonym),
    Column("assignments_approved", value=lambda row: row.approved),
    Column("assignments_rejected", value=lambda row: row.rejected),
    Column("assignments_waiting", value=lambda row: row.waiting),
    *map(Column, ("rewards", "bonuses", "paid", "fees", "cost")),
)


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
        file, name, text = values.get("file"), "The text", values.get("text", "")
        if file is not None and file.size > MOST_BYTES:
            raise forms.ValidationError(f"The file is too large: at most {MOST_BYTES // 1000} kB.")
        try:
            if file is not None:
                name, text = file.name, decoded(file.name, file.read())
            if not text.strip():
                raise forms.ValidationError("Choose a CSV file.")
            values["wishes"] = read_bonuses(name, text)
        except MalformedFile as error:
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
    sent = campaign.worker_messages.annotate(**counted).select_related("sender")
    # Counting ends the model's own order.
    letters = list(sent.order_by("-pk")[: MESSAGES_SHOWN + 1])
    stretch = stretch_of(
        rows.select_related("assignment__account__worker"), request, by=["-pk"], per_page=20
    )
    workers = [bonus.assignment.account.worker_id for bonus in stretch.rows]
    context = {
        "campaign": campaign,
        "form": form,
        "spend": spend(campaign),
        "stretch": stretch,
        # Whoever only did a paid practice has no page.
        "with_page": set(
            known_workers(campaign).filter(pk__in=workers).values_list("pk", flat=True)
        ),
        "letters": letters[:MESSAGES_SHOWN],
        "has_more_letters": len(letters) > MESSAGES_SHOWN,
    }
    return render(request, "hits/payments.html", context, status=status)


@require_safe
def statement(request: HttpRequest, slug: str) -> HttpResponseBase:
    """What the campaign paid to each worker, or to one (`?worker=`), as a CSV file."""
    campaign = campaign_of(request, slug, may=Right.SEE_MONEY)
    name = request.GET.get("worker", "")[:10]
    rows = statements(campaign, Worker.objects.filter(pseudonym=name) if name else None)
    return csv_file(f"{campaign.slug}-statement", STATEMENT_COLUMNS, rows)


MOST_LINES = 2_000
NAMES = ("worker", "amount", "reason")


def read_bonuses(name: str, text: str) -> list[Wish]:
    """The bonuses in the text of a CSV file. Raises MalformedFile."""
    table = CsvFile(name, StringIO(text, newline=""))
    rows = (row for row in table.rows if any(row))
    if tuple(cell.strip().lower() for cell in next(rows, [])) != NAMES:
        raise table.wrong(f"the first line must be {','.join(NAMES)}")
    wishes: list[Wish] = []
    for row in rows:
        if len(wishes) == MOST_LINES:
            raise table.wrong(f"a file has at most {MOST_LINES:,} bonuses; split it")
        wishes.append(_wish(table, row))
    if not wishes:
        raise table.wrong("there are no bonuses below the first line")
    return wishes


def _wish(table: CsvFile, row: list[str]) -> Wish:
    if len(row) != len(NAMES):
        raise table.wrong_length(row, len(NAMES))
    worker, amount, reason = (cell.strip() for cell in row)
    try:
        dollars: Decimal = AmountField().clean(amount.removeprefix("$"))
    except ValidationError as error:
        raise table.wrong(f"{amount!r:.40} is not an amount. {HOW}") from error
    if not 0 < dollars <= MOST or dollars != round(dollars, 2):
        raise table.wrong(f"a bonus is $0.01 to ${MOST:,}, in whole cents")
    if not worker or not reason:
        raise table.wrong("the worker or the reason is missing")
    if len(reason) > 1024:
        raise table.wrong("the reason has more than 1,024 characters")
    return Wish(worker, round(dollars, 2), reason_sent(reason))


def written(wishes: list[Wish]) -> str:
    """The bonuses as the text of such a file, for the form that confirms them."""
    rows = ((wish.pseudonym, f"{wish.amount:.2f}", wish.reason) for wish in wishes)
    return csv_text([NAMES, *rows])


PER_PAGE = 20
DECIDED_SHOWN = 20
DECISION = "hits/decision.html"


class AcceptanceForm(forms.Form):
    """An optional reason for paying a held payment."""

    reason = forms.CharField(
        label="Note",
        required=False,
        max_length=1024,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="Optional. Kept in the decision log; the worker does not read it.",
    )


@dataclass(frozen=True)
class Shown:
    """A held payment with the other data that its page shows."""

    held: HeldPayment
    answer: str
    responses: list[Response]
    submitted_at: datetime
    # When the marketplace approves the assignment automatically.
    approved_at: datetime


@require_safe
def held_payments(request: HttpRequest, slug: str) -> HttpResponse:
    """List the campaign's held payments, the oldest first."""
    campaign = campaign_of(request, slug, may=Right.PAY)
    page = page_of(held_of(campaign).filter(ended_at=None), request, per_page=PER_PAGE)
    ended = held_of(campaign).exclude(ended_at=None).order_by("-ended_at", "-pk")
    latest = list(ended[: DECIDED_SHOWN + 1])
    context = {
        "campaign": campaign,
        "page": page,
        "waiting": _shown(campaign, page),
        "ended": latest[:DECIDED_SHOWN],
        "has_more_ended": len(latest) > DECIDED_SHOWN,
    }
    return render(request, "hits/held_payments.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def decide_held(request: HttpRequest, slug: str, pk: int, *, pays: bool) -> HttpResponse:
    """Accept a held assignment, which the next sync pays, or reject it, with a reason that the
    worker reads."""
    campaign = campaign_of(request, slug, may=Right.PAY)
    held = get_object_or_404(held_of(campaign), pk=pk)
    form = (AcceptanceForm if pays else RejectionForm)(posted(request))

    def decide(reason: str) -> str:
        service = accept_held if pays else reject_held
        service(held=held, reason=reason, actor=user_of(request), at=timezone.now())
        return f"{'Payment' if pays else 'Rejection'} scheduled for the next sync."

    if decided(request, form, decide):
        return redirect("hits:held_payments", slug)
    context = {
        "campaign": campaign,
        "active": "held",
        "worker": held.worker,
        "shown": _shown(campaign, [held])[0],
        "act": "Pay" if pays else "Reject",
        "back": reverse("hits:held_payments", args=[slug]),
    }
    return form_page(request, DECISION, form, context)


def _shown(campaign: Campaign, rows: Any) -> list[Shown]:
    content = KINDS[campaign.kind].answer_relations
    responses = Response.objects.filter(submission__in=[held.submission_id for held in rows])
    by_submission: dict[int, list[Response]] = {}
    for response in responses.select_related("task__image", *content).order_by("pk"):
        by_submission.setdefault(response.submission_id or 0, []).append(response)
    window = timedelta(days=campaign.config.hit.auto_approval_days)
    return [
        Shown(
            held,
            answer_held(held),
            by_submission.get(held.submission_id, []),
            held.submission.assignment.submitted_at,
            held.submission.assignment.submitted_at + window,
        )
        for held in rows
    ]


@require_http_methods(["GET", "HEAD", "POST"])
def reject(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Schedule the rejection of a discarded response's assignment, with a reason."""
    campaign = campaign_of(request, slug, may=Right.PAY)
    responses = Response.objects.of(campaign).select_related(
        "worker", "task__image", *KINDS[campaign.kind].answer_relations
    )
    response = get_object_or_404(responses, pk=pk)
    form = RejectionForm(posted(request))

    def decide(reason: str) -> str:
        ask_for_rejection(
            response=response, reason=reason, actor=user_of(request), at=timezone.now()
        )
        return "Rejection scheduled for the next sync."

    back = reverse("qualcontrol:worker", args=[slug, response.worker.pseudonym])
    if decided(request, form, decide):
        return redirect(back)
    context = {
        "campaign": campaign,
        "active": "workers",
        "worker": response.worker,
        "response": response,
        "act": "Reject",
        "back": back,
    }
    return form_page(request, DECISION, form, context)
