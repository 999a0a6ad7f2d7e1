"""Who may open what of the evaluation server, for pages and the API; and what submitters may open:
the evaluation server, their own account, and nothing else.

Everything is closed to them unless it is listed here, so each new page of the dashboard is, too.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from rest_framework.request import Request

from accounts.api.access import WithinScope
from leaderboard.models import Challenge, Submitter
from shared.requests import Middleware

# Pages of the user's own account, and of the evaluation server.
OPEN_TO_SUBMITTERS = {
    "logout",
    "account:password",
    "account:second_factor",
    "account:tokens",
    "account:withdraw_token",
    "leaderboard:challenges",
    "leaderboard:challenge",
    "leaderboard:images",
    "leaderboard:board",
    "leaderboard:sign_up",
}
# Needs no sign-in, but a submitter's account cannot join a team.
CLOSED_TO_SUBMITTERS = {"account:invitation"}


def submitter_of(user: Any) -> Submitter | None:
    """The submitter with this account; None for a researcher's account, and for strangers.

    Asks the database once for each user object.
    """
    return getattr(user, "submitter", None)


def visible_to(user: Any, at: datetime) -> QuerySet[Challenge]:
    """The challenges that the user may see: everybody sees them from their opening on, and a
    member of their team before it."""
    challenges = Challenge.objects.select_related("release__campaign")
    return challenges.opened(at) if submitter_of(user) else challenges.shown_to(user, at)


def is_own(user: Any, challenge: Challenge) -> bool:
    """Whether the challenge belongs to a team of the user's, who may then open all its pages."""
    own = Challenge.objects.visible_to(user).filter(pk=challenge.pk)
    return user.is_authenticated and submitter_of(user) is None and own.exists()


def may_see_board(user: Any, challenge: Challenge) -> bool:
    """Whether the user may see the board: everybody a published one, members of its team each."""
    return challenge.is_published or is_own(user, challenge)


class SubmittersSeeOnlyChallenges(Middleware):
    """Refuses submitters every other page, and sends them from the start page to the challenges.

    The API's views are not checked here, because only they know the user of an API token:
    `IsResearcher` is their default permission.
    """

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], *_: object
    ) -> HttpResponse | None:
        name = request.resolver_match.view_name if request.resolver_match else ""
        # As SignInMiddleware: pages that need no sign-in, and those of the API.
        needs_sign_in = getattr(view, "login_required", True) or name in CLOSED_TO_SUBMITTERS
        if not needs_sign_in or name in OPEN_TO_SUBMITTERS or not submitter_of(request.user):
            return None
        if name == settings.LOGIN_REDIRECT_URL:
            return redirect("leaderboard:challenges")
        raise PermissionDenied


class IsResearcher(WithinScope):
    """Lets all accounts except submitters' use the API's views that do not say otherwise."""

    def has_permission(self, request: Request, view: object) -> bool:
        return super().has_permission(request, view) and submitter_of(request.user) is None


def submitter(request: HttpRequest) -> dict[str, Any]:
    """For templates: the submitter who is signed in, or None, and whether anybody may sign up."""
    return {
        # A function, so that pages without the menu take no query.
        "submitter": lambda: submitter_of(getattr(request, "user", None)),
        "submitters_may_sign_up": settings.SUBMITTERS_MAY_SIGN_UP,
    }
