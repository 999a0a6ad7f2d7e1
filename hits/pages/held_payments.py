"""The page of held payments: the submitted answers, why they are held, and the decision."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import Right
from accounts.pages.paging import page_of
from accounts.pages.signed_in import decided, posted, user_of
from annotate.kinds import KINDS
from annotate.models import Campaign, Response
from annotate.pages.lookups import campaign_of
from hits.pages.forms import AcceptanceForm
from hits.queries.pay import answer_held
from hits.services.payments import accept_held, reject_held
from qualcontrol.models import HeldPayment
from qualcontrol.pages.forms import RejectionForm

PER_PAGE = 20
DECIDED_SHOWN = 20


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
    page = page_of(_rows(campaign).filter(ended_at=None), request, per_page=PER_PAGE)
    ended = _rows(campaign).exclude(ended_at=None).order_by("-ended_at", "-pk")
    context = {
        "campaign": campaign,
        "page": page,
        "waiting": _shown(campaign, page),
        "ended": ended[:DECIDED_SHOWN],
    }
    return render(request, "hits/held_payments.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def pay(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Accept a held assignment; the next sync pays it."""
    form = AcceptanceForm(posted(request))
    return _decide(request, slug, pk, form, accept_held, "hits/held_payment_pay.html", "Payment")


@require_http_methods(["GET", "HEAD", "POST"])
def refuse(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Reject a held assignment, with a reason that the worker reads."""
    form = RejectionForm(posted(request))
    template = "hits/held_payment_reject.html"
    return _decide(request, slug, pk, form, reject_held, template, "Rejection")


def _decide(
    request: HttpRequest,
    slug: str,
    pk: int,
    form: Form,
    service: Callable[..., None],
    template: str,
    what: str,
) -> HttpResponse:
    campaign = campaign_of(request, slug, may=Right.PAY)
    held = get_object_or_404(_rows(campaign), pk=pk)

    def decide(reason: str) -> str:
        service(held=held, reason=reason, actor=user_of(request), at=timezone.now())
        return f"{what} scheduled for the next sync."

    if decided(request, form, decide):
        return redirect("hits:held_payments", slug)
    context = {"campaign": campaign, "shown": _shown(campaign, [held])[0], "form": form}
    return render(request, template, context, status=422 if form.errors else 200)


def _rows(campaign: Campaign) -> QuerySet[HeldPayment]:
    rows = HeldPayment.objects.of(campaign)
    return rows.select_related("worker", "submission__assignment__account").order_by("pk")


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
