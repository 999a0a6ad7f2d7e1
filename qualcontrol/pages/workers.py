"""Pages about workers: the list, one worker, and decisions about one."""

from collections.abc import Callable

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Right
from accounts.pages.lists import FilterForm, choice, csv_file, orders, page_of, search, wants_csv
from accounts.pages.signed_in import refusals_shown, user_of
from annotate.kinds import KINDS
from annotate.lookups import campaign_of
from annotate.models import Campaign, Response, Worker
from qualcontrol.models import Appeal, WorkerRisk, WorkerState
from qualcontrol.pages.forms import AnswerForm, AppealForm, ReasonForm
from qualcontrol.queries.decision_log import decisions_about, visible_to_reviewers
from qualcontrol.queries.workers import (
    WORKER_COLUMNS,
    known_workers,
    listed_workers,
    worker_summaries,
)
from qualcontrol.services import exclusions

# The decisions about a worker by the URL's last part: the service, and the message on success.
ACTS: dict[str, tuple[Callable[..., object], str]] = {
    "pause": (exclusions.pause_worker, "{worker} is paused and gets no new tasks."),
    "resume": (exclusions.resume_worker, "Pause of {worker} ended."),
    "decline": (exclusions.decline_proposal, "Proposal to exclude {worker} dismissed."),
    "reinstate": (
        exclusions.reinstate_worker,
        "{worker} is reinstated; {answers} restored: {done}.",
    ),
}
# A worker's page is short: it has the latest rows, and links to the lists of all of them.
RESPONSES_SHOWN, DECISIONS_SHOWN = 8, 5
WORKERS_SHOWN = 25


class WorkerFilters(FilterForm):
    orders = orders(WORKER_COLUMNS, default="risk")
    lookups = {"worker": "pseudonym__icontains"}
    worker = search("Worker", max_length=10, placeholder="W-…")
    state = choice("State", WorkerState.choices)
    judged = choice("Judged", [("yes", "has verdicts"), ("no", "has none")])


@require_safe
def workers(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The campaign's workers by their pseudonyms; also as a CSV file."""
    campaign = campaign_of(request, slug)
    filters = WorkerFilters(request)
    keys = filters.found_in(listed_workers(campaign)).values_list("pk", flat=True)
    if wants_csv(request):
        summaries = worker_summaries(campaign, list(keys))
        return csv_file(f"{campaign.slug}-workers", WORKER_COLUMNS, summaries)
    page = page_of(keys, request, per_page=WORKERS_SHOWN)
    context = {
        "campaign": campaign,
        "filters": filters,
        "page": page,
        "workers": worker_summaries(campaign, list(page)),
    }
    return render(request, "qualcontrol/workers.html", context)


@require_safe
def worker(request: HttpRequest, slug: str, pseudonym: str) -> HttpResponse:
    """One worker's responses and risk, and the decisions about the worker."""
    campaign, worker = _look_up(request, slug, pseudonym)
    exclusion = campaign.exclusions.in_force().filter(worker=worker).first()
    context = {
        "campaign": campaign,
        "worker": worker,
        "summary": worker_summaries(campaign, [worker.pk])[0],
        "worker_risk": WorkerRisk.objects.of(campaign).filter(worker=worker).first(),
        "exclusion": exclusion,
        "pause": campaign.pauses.in_force().filter(worker=worker).first(),
        "proposal": campaign.proposals.open().filter(worker=worker).first(),
        "appeals": Appeal.objects.filter(exclusion__campaign=campaign, exclusion__worker=worker),
        "may_appeal": exclusion is not None and not exclusion.appeals.open().exists(),
        "kind": KINDS[campaign.kind],
        "page": page_of(_responses(campaign, worker), request, per_page=RESPONSES_SHOWN),
        "decisions": visible_to_reviewers(decisions_about(campaign, worker))[:DECISIONS_SHOWN],
        "reason_form": ReasonForm(),
        "appeal_form": AppealForm(),
        "answer_form": AnswerForm(),
    }
    return render(request, "qualcontrol/worker.html", context)


def _responses(campaign: Campaign, worker: Worker) -> QuerySet[Response]:
    kind = KINDS[campaign.kind]
    theirs = Response.objects.of(campaign).filter(worker=worker)
    related = ("task__image", "spot_check", "assessment", "gold", *kind.answer_relations)
    return theirs.select_related(*related).order_by("-pk")


@require_POST
def act(request: HttpRequest, slug: str, pseudonym: str, act: str) -> HttpResponse:
    """Pause or resume a worker, dismiss a proposal, or undo an exclusion."""
    campaign, worker = _look_up(request, slug, pseudonym, may=Right.REVIEW)
    if act not in ACTS:
        raise Http404(f"There is no action {act!r}.")
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.warning(request, "Enter a reason. It is kept in the decision log.")
        return redirect("qualcontrol:worker", slug, pseudonym)
    service, said = ACTS[act]
    with refusals_shown(request):
        done = service(
            campaign=campaign,
            worker=worker,
            actor=user_of(request),
            reason=form.cleaned_data["reason"],
            at=timezone.now(),
        )
        answers = KINDS[campaign.kind].answers_name
        messages.success(request, said.format(worker=worker, answers=answers, done=done))
    return redirect("qualcontrol:worker", slug, pseudonym)


@require_POST
def appeal(request: HttpRequest, slug: str, pseudonym: str) -> HttpResponse:
    """Record what an excluded worker wrote."""
    campaign, worker = _look_up(request, slug, pseudonym, may=Right.REVIEW)
    form = AppealForm(request.POST)
    if not form.is_valid():
        messages.warning(request, "Enter what the worker wrote.")
        return redirect("qualcontrol:worker", slug, pseudonym)
    with refusals_shown(request):
        exclusions.record_appeal(
            campaign=campaign,
            worker=worker,
            text=form.cleaned_data["text"],
            actor=user_of(request),
            at=timezone.now(),
        )
        messages.success(request, "Appeal recorded. It now needs an answer.")
    return redirect("qualcontrol:worker", slug, pseudonym)


@require_POST
def answer_appeal(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Grant or refuse an appeal."""
    campaign = campaign_of(request, slug, may=Right.REVIEW)
    in_campaign = Appeal.objects.filter(exclusion__campaign=campaign)
    related = in_campaign.select_related("exclusion__worker", "exclusion__campaign")
    appeal = get_object_or_404(related, pk=pk)
    worker = appeal.exclusion.worker
    form = AnswerForm(request.POST)
    if not form.is_valid():
        messages.warning(request, "Enter an answer: the worker has a right to one.")
        return redirect("qualcontrol:worker", slug, worker.pseudonym)
    with refusals_shown(request):
        restored = exclusions.answer_appeal(
            appeal=appeal,
            is_granted=form.cleaned_data["granted"] == "yes",
            answer=form.cleaned_data["answer"],
            actor=user_of(request),
            at=timezone.now(),
        )
        answers = KINDS[appeal.exclusion.campaign.kind].answers_name
        messages.success(request, f"Answer saved; {answers} restored: {restored}.")
    return redirect("qualcontrol:worker", slug, worker.pseudonym)


def _look_up(
    request: HttpRequest, slug: str, pseudonym: str, may: Right = Right.VIEW
) -> tuple[Campaign, Worker]:
    """The campaign and a worker of it. Raises Http404 and PermissionDenied."""
    campaign = campaign_of(request, slug, may=may)
    return campaign, get_object_or_404(known_workers(campaign), pseudonym=pseudonym)
