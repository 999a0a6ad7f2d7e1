"""Pages for submitters: signing up, the challenges, one challenge with its form, and boards."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from accounts.limits import limit_posts, limit_reads
from accounts.pages.lists import page_of
from accounts.pages.once import once
from accounts.pages.signed_in import form_page, posted, refusals_in, user_of
from leaderboard.access import is_own, may_see_board, visible_to
from leaderboard.models import Challenge, Submission, Track
from leaderboard.pages.forms import SignUpForm, SubmissionForm
from leaderboard.queries import (
    allowance_of,
    board_of,
    image_list,
    numbers_of,
    state_of,
    turns_of_waiting,
)
from leaderboard.services.submissions import create_account, submit
from leaderboard.tasks import ask_for_scores
from shared.requests import client_address


@require_safe
def challenges(request: HttpRequest) -> HttpResponse:
    """List the challenges, the latest first."""
    user, at = user_of(request), timezone.now()
    page = page_of(visible_to(user, at).order_by("-opens_at", "-pk"), request)
    own = set(Challenge.objects.visible_to(user).values_list("pk", flat=True))
    rows = [(challenge, state_of(challenge, at), challenge.pk in own) for challenge in page]
    context = {"page": page, "at": at, "rows": rows}
    return render(request, "leaderboard/challenges.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@once()
def challenge(request: HttpRequest, name: str) -> HttpResponse:
    """A challenge: what to do, the limits, the user's own submissions, and the form."""
    user, at = user_of(request), timezone.now()
    challenge = get_object_or_404(visible_to(user, at), name=name)
    form = SubmissionForm(challenge, posted(request), request.FILES or None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            submission = submit(challenge=challenge, submitter=user, at=at, **form.cleaned_data)
            ask_for_scores()
            messages.success(
                request,
                f"“{submission.method}” has a caption for each image and waits to be scored. "
                "Reload this page to see its scores.",
            )
            return redirect(challenge)
    page = page_of(Submission.objects.of(user).filter(challenge=challenge), request)
    numbers, turns = numbers_of(challenge.release), turns_of_waiting()
    context = {
        "challenge": challenge,
        "state": state_of(challenge, at),
        "image_count": len(numbers),
        "is_own": is_own(user, challenge),
        "examples": numbers[:2],
        "allowance": allowance_of(challenge, user, at=at),
        "page": page,
        "rows": [(submission, turns.get(submission.pk)) for submission in page],
        "api_url": settings.SITE_URL + reverse("api-challenge-submissions", args=[name]),
    }
    return form_page(request, "leaderboard/challenge.html", form, context)


@require_safe
def images(request: HttpRequest, name: str) -> HttpResponse:
    """Download the list of images, without captions."""
    challenge = get_object_or_404(visible_to(user_of(request), timezone.now()), name=name)
    response = JsonResponse({"images": list(image_list(challenge))})
    response["Content-Disposition"] = f'attachment; filename="{challenge.name}-images.json"'
    return response


@login_not_required
@require_safe
@limit_reads
def board(request: HttpRequest, name: str) -> HttpResponse:
    """Show the board of one track, for all images or a subset, sorted by a metric."""
    challenge = get_object_or_404(Challenge, name=name)
    if not may_see_board(request.user, challenge):
        raise Http404("This board is private.")
    asked = request.GET
    track = Track.EXTRA if asked.get("track") == Track.EXTRA else Track.PLAIN
    context = {
        "challenge": challenge,
        "is_own": is_own(request.user, challenge),
        "tracks": Track.choices if challenge.has_extra_track else [],
        "board": board_of(
            challenge, track=track, subset=asked.get("subset", ""), sort=asked.get("sort", "")
        ),
    }
    return render(request, "leaderboard/board.html", context)


@login_not_required
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@limit_posts
def sign_up(request: HttpRequest) -> HttpResponse:
    """Create an account that may submit to challenges, and nothing else."""
    if not settings.SUBMITTERS_MAY_SIGN_UP:
        raise Http404("Nobody can sign up at this site.")
    form = SignUpForm(posted(request))
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            create_account(**form.cleaned_data, address=client_address(request), at=timezone.now())
            messages.success(request, "Your account is ready. Sign in.")
            return redirect("login")
    return form_page(request, "leaderboard/sign_up.html", form)
