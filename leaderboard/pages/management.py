"""Pages for researchers: create and manage challenges."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Right
from accounts.pages.lists import page_of
from accounts.pages.once import once
from accounts.pages.signed_in import form_page, posted, refusals_in, refusals_shown, user_of
from accounts.rights import require, team_to_change
from leaderboard.models import Challenge, Submission
from leaderboard.pages.forms import ChallengeForm, ClosingForm, LimitsForm, WithdrawalForm
from leaderboard.queries import (
    figures_of,
    names_of,
    state_of,
    stuck_since,
    submission_table,
    team_of,
)
from leaderboard.services.challenges import (
    DEFAULTS,
    close_challenge,
    create_challenge,
    hide_board,
    publish_board,
    set_closing,
    set_limits,
)
from leaderboard.services.scoring import score_again as queue_again
from leaderboard.services.submissions import withdraw as withdraw_submission
from leaderboard.tasks import ask_for_scores
from shared.tables import csv_download


def managed(request: HttpRequest, name: str, may: Right = Right.MANAGE) -> Challenge:
    """A challenge of the user's team; raises Http404, and PermissionDenied without the right."""
    related = ("release__campaign__team", "owner")
    rows = Challenge.objects.visible_to(user_of(request)).select_related(*related)
    challenge = get_object_or_404(rows, name=name)
    require(request, challenge.release.campaign.team, may)
    return challenge


@require_http_methods(["GET", "HEAD", "POST"])
@once()
def new(request: HttpRequest) -> HttpResponse:
    """Create a challenge from a release."""
    team, at = team_to_change(request), timezone.now()
    form = ChallengeForm(team, posted(request), initial={**DEFAULTS, "opens_at": at})
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            asked = Challenge(owner=user_of(request), **form.cleaned_data)
            challenge = create_challenge(asked, at=at)
            ask_for_scores()
            messages.success(request, f"Challenge {challenge} created. Its board is private.")
            return redirect("leaderboard:manage", challenge.name)
    return form_page(request, "leaderboard/new.html", form)


@require_safe
def manage(request: HttpRequest, name: str) -> HttpResponse:
    """A challenge's submissions and settings."""
    challenge = managed(request, name, may=Right.VIEW)
    at = timezone.now()
    rows = challenge.submissions.select_related("submitter__submitter", "withdrawn_by")
    page = page_of(rows.order_by("-created_at", "-pk"), request)
    metric = next(iter(names_of(page).metrics), "")
    context = {
        "challenge": challenge,
        "is_own": True,
        "state": state_of(challenge, at),
        "stuck_since": stuck_since(at),
        "page": page,
        "metric": metric,
        "rows": [
            (submission, team_of(submission), figures_of(submission).get(metric))
            for submission in page
        ],
        "closing_form": ClosingForm(initial={"closes_at": challenge.closes_at}),
        "limits_form": LimitsForm(initial=vars(challenge)),
    }
    return render(request, "leaderboard/manage.html", context)


@require_POST
def publish(request: HttpRequest, name: str) -> HttpResponse:
    """Publish the board, or make it private again."""
    challenge = managed(request, name)
    with refusals_shown(request):
        if request.POST.get("board") == "private":
            hide_board(challenge=challenge)
            messages.success(request, "The board is private now.")
        else:
            publish_board(challenge=challenge, at=timezone.now())
            messages.success(request, "Everybody can see the board now.")
    return redirect("leaderboard:manage", name)


@require_POST
def closing(request: HttpRequest, name: str) -> HttpResponse:
    """Close the challenge now, or change when it closes."""
    challenge = managed(request, name)
    form = ClosingForm(request.POST)
    is_now = "now" in request.POST
    if not form.is_valid() and not is_now:
        messages.warning(request, "Enter a date and a time, such as 2027-01-31 12:00.")
        return redirect("leaderboard:manage", name)
    with refusals_shown(request):
        if is_now:
            close_challenge(challenge=challenge, at=timezone.now())
            messages.success(request, "The challenge is closed. What waits will still be scored.")
        else:
            closes_at = form.cleaned_data["closes_at"]
            set_closing(challenge=challenge, closes_at=closes_at)
            messages.success(request, _closing_in_words(closes_at))
    return redirect("leaderboard:manage", name)


def _closing_in_words(closes_at: Any) -> str:
    if closes_at is None:
        return "The challenge stays open."
    return f"The challenge closes on {closes_at:%-d %b %Y, %H:%M} UTC."


@require_POST
def limits(request: HttpRequest, name: str) -> HttpResponse:
    """Change the limits of submissions and of scoring."""
    challenge = managed(request, name)
    form = LimitsForm(request.POST)
    if not form.is_valid():
        for field, errors in form.errors.items():
            messages.warning(request, f"{form[field].label}: {errors[0]}")
        return redirect("leaderboard:manage", name)
    with refusals_shown(request):
        set_limits(challenge=challenge, **form.cleaned_data)
        messages.success(request, "The limits are changed.")
    return redirect("leaderboard:manage", name)


@require_http_methods(["GET", "HEAD", "POST"])
def withdraw(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Take a submission off the board, with a reason."""
    challenge = managed(request, name)
    submission = _submission_of(challenge, pk)
    form = WithdrawalForm(posted(request))
    if request.method == "POST" and form.is_valid():
        with refusals_shown(request):
            withdraw_submission(
                submission=submission,
                reason=form.cleaned_data["reason"],
                actor=user_of(request),
                at=timezone.now(),
            )
            messages.success(request, f"“{submission.method}” is withdrawn.")
        return redirect("leaderboard:manage", name)
    context = {
        "challenge": challenge,
        "is_own": True,
        "submission": submission,
        "team": team_of(submission),
    }
    return form_page(request, "leaderboard/withdraw.html", form, context)


@require_POST
def score_again(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Queue the human baseline again after its scoring failed."""
    challenge = managed(request, name)
    with refusals_shown(request):
        queue_again(submission=_submission_of(challenge, pk), at=timezone.now())
        ask_for_scores()
        messages.success(request, "The human baseline waits to be scored again.")
    return redirect("leaderboard:manage", name)


def _submission_of(challenge: Challenge, pk: int) -> Submission:
    rows = challenge.submissions.select_related("submitter__submitter")
    return get_object_or_404(rows, pk=pk)


@require_safe
def table(request: HttpRequest, name: str) -> StreamingHttpResponse:
    """Download all submissions with their scores as CSV."""
    challenge = managed(request, name, may=Right.VIEW)
    return csv_download(f"{challenge.name}-submissions", submission_table(challenge))
