"""Pages for submitters: the challenges, and one challenge with its form."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from annotate.errors import DomainError
from annotate.pages.paging import page_of
from annotate.pages.signed_in import posted, user_of
from annotate.site.background import hand_on
from leaderboard.access import submitter_of
from leaderboard.models import Challenge, Submission
from leaderboard.pages.forms import SubmissionForm
from leaderboard.queries.allowances import allowance_of
from leaderboard.queries.images import image_list, numbers_of
from leaderboard.queries.waiting import turns_of_waiting
from leaderboard.services.submissions import Declaration, submit
from leaderboard.tasks import score_next
from leaderboard.uploads import read_upload


def visible_to(user: Any, at: datetime) -> QuerySet[Challenge]:
    """The challenges that the user may see: everybody sees them from their opening on, and a
    member of their team before it."""
    challenges = Challenge.objects.select_related("release")
    return challenges.opened(at) if submitter_of(user) else challenges.shown_to(user, at)


def is_own(user: Any, challenge: Challenge) -> bool:
    """Whether the challenge belongs to a team of the user's, who may then open all its pages."""
    own = Challenge.objects.visible_to(user).filter(pk=challenge.pk)
    return user.is_authenticated and submitter_of(user) is None and own.exists()


@require_safe
def challenges(request: HttpRequest) -> HttpResponse:
    """List the challenges, the latest first."""
    user, at = user_of(request), timezone.now()
    page = page_of(visible_to(user, at).order_by("-opens_at", "-pk"), request)
    own = set(Challenge.objects.visible_to(user).values_list("pk", flat=True))
    rows = [(each, state_of(each, at), each.pk in own) for each in page]
    context = {"page": page, "at": at, "rows": rows}
    return render(request, "leaderboard/challenges.html", context)


def state_of(challenge: Challenge, at: datetime) -> str:
    if challenge.is_closed(at):
        return "closed"
    return "open" if challenge.is_open(at) else "not open yet"


@require_http_methods(["GET", "HEAD", "POST"])
def challenge(request: HttpRequest, name: str) -> HttpResponse:
    """A challenge: what to do, the limits, the user's own submissions, and the form."""
    user, at = user_of(request), timezone.now()
    found = get_object_or_404(visible_to(user, at), name=name)
    form = SubmissionForm(found, posted(request), request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            submission = _submit(request, found, form.cleaned_data, at)
        except DomainError as error:
            form.add_error(None, str(error))
        else:
            messages.success(
                request,
                f"“{submission.method}” has a caption for each image and waits to be scored. "
                "Reload this page to see its scores.",
            )
            return redirect(found)
    page = page_of(Submission.objects.of(user).filter(challenge=found), request)
    numbers, turns = numbers_of(found.release), turns_of_waiting()
    context = {
        "challenge": found,
        "state": state_of(found, at),
        "image_count": len(numbers),
        "is_own": is_own(user, found),
        "examples": numbers[:2],
        "allowance": allowance_of(found, user, at=at),
        "page": page,
        "rows": [(submission, turns.get(submission.pk)) for submission in page],
        "api_url": settings.SITE_URL + reverse("api-challenge-submissions", args=[name]),
        "form": form,
    }
    status = 422 if form.errors else 200
    return render(request, "leaderboard/challenge.html", context, status=status)


def _submit(
    request: HttpRequest, challenge: Challenge, values: dict[str, Any], at: datetime
) -> Submission:
    submission = submit(
        challenge=challenge,
        submitter=user_of(request),
        declaration=Declaration(
            track=values["track"],
            method=values["method"],
            training_data=values["training_data"],
        ),
        upload=read_upload(values["file"]),
        at=at,
    )
    ask_for_scores()
    return submission


def ask_for_scores() -> None:
    """Have what waits scored: by a Celery worker if there is a broker, otherwise by
    `score_submissions --watch`."""
    if not settings.CELERY_TASK_ALWAYS_EAGER:
        hand_on(score_next)


@require_safe
def images(request: HttpRequest, name: str) -> HttpResponse:
    """Download the list of images, without captions."""
    found = get_object_or_404(visible_to(user_of(request), timezone.now()), name=name)
    response = JsonResponse({"images": list(image_list(found))})
    response["Content-Disposition"] = f'attachment; filename="{found.name}-images.json"'
    return response
