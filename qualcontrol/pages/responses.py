"""The page of one response: change its verdict or restore it, with what that moves."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.models import Right
from accounts.pages.signed_in import posted, user_of
from annotate.images.copies import display_url
from annotate.kinds import KINDS
from annotate.models import Response
from annotate.pages.lookups import campaign_of
from corpora.errors import DomainError
from qualcontrol.models import Verdict
from qualcontrol.pages.forms import ChangeForm
from qualcontrol.queries.decision_log import visible_to_reviewers
from qualcontrol.review.undoing import change_verdict, restore_response, undo_preview


@require_http_methods(["GET", "HEAD", "POST"])
def response(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show a response, with what a change of its verdict moves, and change it."""
    campaign = campaign_of(request, slug, may=Right.REVIEW)
    kind = KINDS[campaign.kind]
    related = ("task__campaign", "task__image", "worker", "spot_check", "assessment")
    rows = Response.objects.of(campaign).select_related(*related, *kind.answer_relations)
    found = get_object_or_404(rows, pk=pk)
    form = ChangeForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            messages.success(request, _change(request, found, form))
            return redirect("qualcontrol:response", slug, pk)
        except DomainError as error:
            form.add_error(None, str(error))
    log = campaign.decisions.filter(response=found).select_related("actor", "worker")
    context = {
        "campaign": campaign,
        "kind": kind,
        "response": found,
        "image_url": display_url(found.task.image),
        "preview": undo_preview(found),
        "decisions": visible_to_reviewers(log),
        "asked": found.second_opinions.wanted().select_related("asked_by").first(),
        "form": form,
    }
    status = 422 if form.errors else 200
    return render(request, "qualcontrol/response.html", context, status=status)


def _change(request: HttpRequest, found: Response, form: ChangeForm) -> str:
    """Do what the form asks for, and return what to say."""
    change, reason = form.cleaned_data["change"], form.cleaned_data["reason"]
    actor, at = user_of(request), timezone.now()
    if change == ChangeForm.RESTORE:
        restore_response(response=found, reason=reason, actor=actor, at=at)
        return "Restored. It counts again."
    counts = change_verdict(response=found, verdict=change, reason=reason, actor=actor, at=at)
    verdict = Verdict(change).label.lower()
    return f"Verdict changed to {verdict}. It {'counts' if counts else 'does not count'}."
