"""The researcher's pages: campaigns, their progress, and buttons that change their status."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Right
from accounts.pages.signed_in import decided, posted, user_of
from annotate.kinds import KINDS
from annotate.models import Campaign, Response
from annotate.pages.lookups import campaign_of
from annotate.queries.progress import progress
from background.tasks import announce_job
from corpora.errors import DomainError
from hits.mturk.endpoints import endpoint_of
from hits.pages.forms import PublishForm
from hits.pages.sync_states import sync_state
from hits.queries.costs import estimate, family_estimate, slot_cost, spend
from hits.queries.under_way import work_under_way
from hits.services import lifecycle
from hits.services.payments import ask_for_rejection
from hits.services.syncs import ask_for_sync
from qualcontrol.models import HeldPayment, SpotCheck, WorkerRisk
from qualcontrol.pages.forms import ReasonForm, RejectionForm
from qualcontrol.queries.workers import known_workers
from qualcontrol.services.exclusions import exclude_worker, exclusion_preview

MOST_ACTIVE = 8
MOST_PROBLEMS = 20


@require_http_methods(["GET", "HEAD", "POST"])
def publish(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the cost of publishing a campaign, and publish it."""
    found = campaign_of(request, slug, may=Right.MANAGE)
    if request.method == "POST":
        form = PublishForm(request.POST)
        if not form.is_valid():
            messages.warning(request, "Load this page again: it was sent incompletely.")
            return redirect("hits:publish", slug)
        try:
            lifecycle.ask_to_publish(
                campaign=found,
                confirmed=form.is_confirmed,
                seen=lifecycle.terms_of(found)._replace(**form.seen),
                actor=user_of(request),
                at=timezone.now(),
            )
        except DomainError as error:
            messages.warning(request, str(error))
            return redirect("hits:publish", slug)
        announce_job()
        return redirect(found)
    cost = estimate(found)
    context = {
        "campaign": found,
        "form": PublishForm(initial={"cost": cost.total, "budget": found.budget}),
        "estimate": cost,
        "family": family_estimate(found),
        "fault_of_title": KINDS[found.kind].fault_of_title(found.config),
        "spend": spend(found),
        "marketplace": endpoint_of(found.endpoint),
    }
    return render(request, "hits/publish.html", context)


@require_POST
def pause(request: HttpRequest, slug: str) -> HttpResponse:
    """Pause a campaign, so that it gets no new workers."""
    return _move(request, slug, lifecycle.pause)


@require_POST
def finish(request: HttpRequest, slug: str) -> HttpResponse:
    """Finish a campaign."""
    return _move(request, slug, lifecycle.finish)


@require_safe
def confirm_pause(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what a pause does."""
    return _confirm(request, slug, "hits/pause.html")


@require_safe
def confirm_finish(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what finishing ends for good."""
    return _confirm(request, slug, "hits/finish.html")


def _confirm(request: HttpRequest, slug: str, template: str) -> HttpResponse:
    found = campaign_of(request, slug, may=Right.MANAGE)
    context = {
        "campaign": found,
        "progress": progress(found),
        "spend": spend(found),
        "work": work_under_way(found),
        "open_checks": SpotCheck.objects.of(found).open().count(),
        "held": HeldPayment.objects.of(found).open().count(),
    }
    return render(request, template, context)


def _move(request: HttpRequest, slug: str, service: Any) -> HttpResponse:
    found = campaign_of(request, slug, may=Right.MANAGE)
    try:
        service(campaign=found, actor=user_of(request), at=timezone.now())
    except DomainError as error:
        messages.warning(request, str(error))
        return redirect(found)
    return _sync(request, found)


@require_POST
def sync(request: HttpRequest, slug: str) -> HttpResponse:
    """Request a sync of the campaign now."""
    return _sync(request, campaign_of(request, slug, may=Right.MANAGE))


@require_safe
def sync_progress(request: HttpRequest, slug: str) -> HttpResponse:
    """Render the state of the campaign's sync, which the campaign's page reloads.

    Empty if there is nothing to show.
    """
    found = campaign_of(request, slug)
    context = {"campaign": found, "sync_state": sync_state(found, at=timezone.now())}
    return render(request, "hits/sync.html", context)


def _sync(request: HttpRequest, found: Campaign) -> HttpResponse:
    """Request a sync, which runs as a job."""
    try:
        ask_for_sync(campaign=found, user=user_of(request), at=timezone.now())
    except DomainError as error:
        messages.warning(request, str(error))
    else:
        announce_job()
    return redirect(found)


@require_http_methods(["GET", "HEAD", "POST"])
def exclude(request: HttpRequest, slug: str, pseudonym: str) -> HttpResponse:
    """Show what an exclusion discards and what replacing it costs, and exclude the worker."""
    found = campaign_of(request, slug, may=Right.REVIEW)
    worker = get_object_or_404(known_workers(found), pseudonym=pseudonym)
    form = ReasonForm(posted(request))

    def decide(reason: str) -> str:
        discarded = exclude_worker(
            campaign=found,
            worker=worker,
            reason=reason,
            actor=user_of(request),
            at=timezone.now(),
        )
        return f"{worker} is excluded; {KINDS[found.kind].answers_name} discarded: {discarded}."

    if decided(request, form, decide):
        return redirect("qualcontrol:worker", slug, pseudonym)
    context = {
        "campaign": found,
        "worker": worker,
        "preview": exclusion_preview(campaign=found, worker=worker, slot_cost=slot_cost(found)),
        "spend": spend(found),
        "worker_risk": WorkerRisk.objects.of(found).filter(worker=worker).first(),
        "form": form,
    }
    status = 422 if form.errors else 200
    return render(request, "hits/exclude.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def reject(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Schedule the rejection of a discarded response's assignment, with a reason."""
    found = campaign_of(request, slug, may=Right.PAY)
    responses = Response.objects.of(found).select_related(
        "worker", "task__image", *KINDS[found.kind].answer_relations
    )
    response = get_object_or_404(responses, pk=pk)
    form = RejectionForm(posted(request))

    def decide(reason: str) -> str:
        ask_for_rejection(
            response=response, reason=reason, actor=user_of(request), at=timezone.now()
        )
        return "Rejection scheduled for the next sync."

    if decided(request, form, decide):
        return redirect("qualcontrol:worker", slug, response.worker.pseudonym)
    context = {"campaign": found, "response": response, "form": form}
    status = 422 if form.errors else 200
    return render(request, "hits/reject.html", context, status=status)
