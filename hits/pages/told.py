"""The page on which a worker reads why answers were discarded, and appeals against an exclusion."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from accounts.pages.signed_in import posted
from annotate.images.copies import display_url
from annotate.kinds import KINDS
from annotate.kinds.wording import in_language
from annotate.models import Campaign, Response, Worker
from hits.models import AssignmentStatus
from hits.mturk.endpoints import endpoint_of
from hits.pages.task_page.page import common, framed
from hits.services.messages import appeal_from_page, discarded, told_url, told_worker
from qualcontrol.models import Appeal, Verdict
from qualcontrol.pages.forms import AppealForm
from qualcontrol.services.errors import CannotAppeal

MOST_SHOWN = 100


@login_not_required
@csrf_exempt  # the key in the address takes the place of a cookie
@require_http_methods(["GET", "HEAD", "POST"])
def told(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a worker's discarded answers with the reasons, and the exclusion, or store an appeal."""
    campaign = get_object_or_404(Campaign, slug=slug)
    try:
        with in_language(campaign.config.language):
            response = _told(request, campaign, request.GET.get("key", ""))
    except Worker.DoesNotExist as error:
        raise Http404("There is no such page.") from error
    return framed(response, endpoint_of(campaign.endpoint))


def _told(request: HttpRequest, campaign: Campaign, key: str) -> HttpResponse:
    worker = told_worker(campaign, key)
    form = AppealForm(posted(request))
    if form.is_valid():
        # The page shows if there is an appeal already, or if the exclusion has ended.
        with suppress(CannotAppeal):
            text = form.cleaned_data["text"]
            appeal_from_page(campaign=campaign, key=key, text=text, at=timezone.now())
        return redirect(told_url(campaign, worker))
    context = {**_context(campaign, worker), "form": form}
    status = 422 if form.errors else 200
    return render(request, "hits/told.html", context, status=status)


def _context(campaign: Campaign, worker: Worker) -> dict[str, Any]:
    exclusion = campaign.exclusions.in_force().filter(worker=worker).first()
    appeals = Appeal.objects.filter(exclusion__campaign=campaign, exclusion__worker=worker)
    rows = list(_rows(campaign, worker))
    return {
        **common(campaign),
        "rows": rows[:MOST_SHOWN],
        "has_more": len(rows) > MOST_SHOWN,
        "exclusion": exclusion,
        "appeals": appeals.order_by("pk"),
        "may_appeal": exclusion is not None and not exclusion.appeals.open().exists(),
    }


def _rows(campaign: Campaign, worker: Worker) -> Iterator[dict[str, Any]]:
    kind = KINDS[campaign.kind]
    related = ("task__image", "task__subject", "spot_check", "submission__assignment")
    theirs = discarded(campaign).filter(worker=worker)
    theirs = theirs.select_related(*related, *kind.answer_relations)
    for response in theirs.order_by("-pk")[: MOST_SHOWN + 1]:
        yield {
            "response": response,
            "image_url": display_url(response.task.image),
            "reason": _reason(campaign, response),
        }


def _reason(campaign: Campaign, response: Response) -> str:
    """The reason of a bad verdict, or else of the rejection; empty if there is neither."""
    check = getattr(response, "spot_check", None)
    if check and check.verdict == Verdict.BAD:
        return _in_words(campaign, check.reason)
    submission = response.submission
    if submission is None or submission.assignment.status != AssignmentStatus.REJECTED:
        return ""
    return submission.assignment.feedback


def _in_words(campaign: Campaign, reason: str) -> str:
    """A reviewer's reason; the part that is one of the task type's faults is translated."""
    fault = KINDS[campaign.kind].fault_in(reason)
    return gettext(fault) + reason[len(fault) :] if fault else reason
