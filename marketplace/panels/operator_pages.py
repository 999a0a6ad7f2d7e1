"""The operator's page of a study at a panel: draft, cost, submissions, bonuses, both ledgers."""

from collections.abc import Callable, Iterator
from decimal import Decimal

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from marketplace import clock
from marketplace.errors import DomainError, StudyRefused
from marketplace.models import Study
from marketplace.operator.base import (
    OperatorRequest,
    logged,
    logged_with_message,
    newest_first,
    operator_page,
)
from marketplace.panels.client import prolific
from marketplace.panels.forms import PanelPlanForm, PlacesForm, RejectionForm
from marketplace.panels.models import BatchState, BonusBatch, PanelStudy, PanelSubmission
from marketplace.panels.panel import UNPUBLISHED, Spent, StudyAction, SubmissionStatus
from marketplace.panels.services import amounts, bonuses, rounds, submissions
from marketplace.panels.services import studies as panel_studies
from marketplace.services import studies
from shared.number_fields import AmountField

LABELS = {
    "rewards": "Rewards",
    "reward_fees": "Fees for rewards",
    "reward_tax": "VAT on fees for rewards",
    "bonuses": "Bonuses",
    "bonus_fees": "Fees for bonuses",
    "bonus_tax": "VAT on fees for bonuses",
}


@operator_page("GET", "POST")
def study_at_panel(request: OperatorRequest, slug: str) -> HttpResponse:
    """Show the study at the panel; before that, a form that puts it there as a draft."""
    study = get_object_or_404(Study, slug=slug)
    at_panel = PanelStudy.objects.filter(study=study).first()
    if at_panel is not None:
        return _show(request, at_panel)
    form = PanelPlanForm(request.POST or None)
    if form.is_valid():
        try:
            with logged(request, "put a study at a panel", slug):
                at_panel = _make(study, form)
        except DomainError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "Stored. Create the draft at the panel next.")
            return redirect("operator:study_at_panel", slug)
    status = 400 if form.errors else 200
    context = {"study": study, "form": form}
    return render(request, "marketplace/panels/new_study.html", context, status=status)


@transaction.atomic
def _make(study: Study, form: PanelPlanForm) -> PanelStudy:
    panel_studies.lock_unplanned(study)
    screening = form.screening()
    if screening is not None:
        studies.set_screening(study=study, screening=screening)
    studies.set_checks(study=study, checks=form.cleaned_data["attention_checks"])
    return panel_studies.plan_study(panel_study=form.panel_study(study), at=clock.now())


def _show(request: OperatorRequest, at_panel: PanelStudy) -> HttpResponse:
    wanted = request.GET.get("places", "")
    more = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 7 else 0
    problem, offer, there, subscriptions = "", None, None, None
    try:
        if not at_panel.external_id:
            pass
        elif at_panel.status == UNPUBLISHED:
            offer = panel_studies.offer(panel_study=at_panel, places=at_panel.places)
        elif more > at_panel.places:
            offer = panel_studies.offer(panel_study=at_panel, places=more - at_panel.places)
        subscriptions = rounds.subscriptions() if request.GET.get("hooks") else None
        if at_panel.external_id and at_panel.status != UNPUBLISHED:
            there = prolific().spent(at_panel.external_id)
    except DomainError as error:
        problem = str(error)
    submissions = at_panel.submissions.select_related("participation__worker")
    if request.GET.get("state") == "open":
        submissions = submissions.exclude(question="")
    page = newest_first(request, submissions)
    unclear = at_panel.batches.filter(state=BatchState.UNCLEAR).order_by("pk")
    context = {
        "study": at_panel.study,
        "at_panel": at_panel,
        "problem": problem or at_panel.problem,
        "offer": offer,
        "more": more,
        "per_hour": panel_studies.per_hour(reward=at_panel.reward, minutes=at_panel.minutes),
        "by_settings": amounts.cost_of(reward=at_panel.reward, places=at_panel.places),
        "places_form": PlacesForm(initial={"places": at_panel.places + 1}),
        "questions": rounds.open_questions(at_panel),
        "page": page,
        "rows": [_row(submission) for submission in page.rows],
        "batches": at_panel.batches.order_by("-pk")[:50],
        "unclear": [(batch, _both_sides(batch)) for batch in unclear],
        "sides": list(_compare(amounts.recorded(at_panel), there)),
        "subscriptions": subscriptions,
        "hook_address": rounds.address(),
        "seconds": settings.PROLIFIC_SECONDS,
    }
    return render(request, "marketplace/panels/study.html", context)


def _row(submission: PanelSubmission) -> tuple[PanelSubmission, int, RejectionForm | None]:
    """A submission, its failed attention checks, and the form to reject it while that is open."""
    is_waiting = submission.status == SubmissionStatus.AWAITING_REVIEW
    form = RejectionForm(submission) if is_waiting else None
    return submission, submissions.failed(submission) if is_waiting else 0, form


def _compare(here: Spent, there: Spent | None) -> Iterator[tuple[str, Decimal, Decimal | None]]:
    for name, label in LABELS.items():
        yield label, getattr(here, name), getattr(there, name) if there else None


def _both_sides(batch: BonusBatch) -> list[tuple[PanelSubmission, Decimal, Decimal, Decimal]]:
    """Of each submission: this batch's bonus, those paid before, and those that the panel lists."""
    rows = batch.payments.select_related("submission__participation__worker").order_by("pk")
    return [
        (
            row.submission,
            row.amount,
            amounts.paid_bonuses(row.submission),
            row.submission.bonuses_there,
        )
        for row in rows
    ]


@operator_page("POST")
def panel_study_action(request: OperatorRequest, slug: str) -> HttpResponse:
    """Change the study at the panel, read it now, or begin and end the panel's hooks."""
    at_panel = get_object_or_404(PanelStudy, study__slug=slug)
    at, action = clock.now(), request.POST.get("action", "")

    def move() -> None:
        panel_studies.change_status(panel_study=at_panel, action=StudyAction(action.upper()), at=at)

    def places() -> None:
        wanted = PlacesForm(request.POST)
        if not wanted.is_valid():
            raise StudyRefused("Enter the number of places.")
        panel_studies.add_places(
            panel_study=at_panel,
            places=wanted.cleaned_data["places"],
            confirmed=_confirmed(request),
            at=at,
        )

    steps: dict[str, tuple[Callable[[], object], str]] = {
        "draft": (
            lambda: panel_studies.make_draft(panel_study=at_panel, at=at),
            "The draft is at the panel.",
        ),
        "discard": (
            lambda: panel_studies.discard_plan(panel_study=at_panel),
            "The plan was discarded.",
        ),
        "publish": (
            lambda: panel_studies.publish(
                panel_study=at_panel, confirmed=_confirmed(request), at=at
            ),
            "Published.",
        ),
        "pause": (move, "Paused: nobody new can take a place."),
        "start": (move, "Started again."),
        "stop": (move, "Stopped."),
        "places": (places, "The places were added."),
        "read": (lambda: rounds.run_round(panel_study=at_panel, at=at), "Read."),
        "subscribe": (rounds.subscribe, "Subscribed to hooks."),
        "unsubscribe": (rounds.unsubscribe, "No hooks are sent any more."),
    }
    if action in steps:
        step, success = steps[action]
        with logged_with_message(request, f"panel: {action}", slug, success):
            step()
    return redirect("operator:study_at_panel", slug)


def _confirmed(request: OperatorRequest) -> Decimal:
    try:
        confirmed: Decimal = AmountField().clean(request.POST.get("confirmed", ""))
    except forms.ValidationError as error:
        raise StudyRefused("Look at the cost, and confirm it.") from error
    return confirmed


@operator_page("POST")
def panel_submission_action(request: OperatorRequest, slug: str, pk: int) -> HttpResponse:
    """Approve a submission, ask its participant to return it, or reject it."""
    submission = get_object_or_404(PanelSubmission, pk=pk, panel_study__study__slug=slug)
    at, action = clock.now(), request.POST.get("action", "")
    reason = request.POST.get("reason", "")[:2000]
    steps: dict[str, tuple[Callable[[], None], str]] = {
        "approve": (
            lambda: submissions.approve_by_hand(submission=submission, panel=prolific(), at=at),
            "The panel was asked to approve the submission.",
        ),
        "return": (
            lambda: submissions.ask_by_hand(
                submission=submission, reason=reason, panel=prolific(), at=at
            ),
            "The participant was asked to return the submission.",
        ),
        "reject": (
            lambda: submissions.reject(
                submission=submission,
                category=request.POST.get("category", ""),
                reason=reason,
                panel=prolific(),
            ),
            "Rejected. The participant reads your reason.",
        ),
    }
    if action in steps:
        step, success = steps[action]
        with logged_with_message(
            request, f"panel: {action} a submission", str(submission), success
        ):
            step()
    return redirect("operator:study_at_panel", slug)


@operator_page("POST")
def panel_batch_action(request: OperatorRequest, slug: str, pk: int) -> HttpResponse:
    """Read an unclear batch's bonuses at the panel, or decide whether it was paid."""
    batch = get_object_or_404(BonusBatch, pk=pk, panel_study__study__slug=slug)
    action = request.POST.get("action", "")
    if action == "read":
        with logged_with_message(request, "panel: read bonuses", str(batch), "Read."):
            bonuses.read_bonuses(batch=batch, panel=prolific())
    elif action in ("paid", "unpaid"):
        success = "Recorded as paid." if action == "paid" else "The bonuses become due again."
        with logged_with_message(request, f"panel: {action} batch", str(batch), success):
            bonuses.decide_unclear(
                batch=batch,
                was_paid=action == "paid",
                panel=prolific(),
                operator=request.user.get_username(),
                at=clock.now(),
            )
    elif action == "listed":
        success = "Recorded as the panel lists it. What it does not list becomes due again."
        with logged_with_message(request, "panel: settle batch as listed", str(batch), success):
            bonuses.settle_as_listed(
                batch=batch,
                panel=prolific(),
                operator=request.user.get_username(),
                at=clock.now(),
            )
    return redirect("operator:study_at_panel", slug)
