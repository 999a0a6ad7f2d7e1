"""The board of a challenge."""

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from leaderboard.access import submitter_of
from leaderboard.models import Challenge, Track
from leaderboard.queries.boards import board_of


def may_see_board(user: Any, challenge: Challenge) -> bool:
    """Whether the user may see the board: everybody a published one, researchers each."""
    return challenge.is_published or (user.is_authenticated and submitter_of(user) is None)


@login_not_required
@require_safe
def board(request: HttpRequest, name: str) -> HttpResponse:
    """Show the board of one track, for all images or a subset, sorted by a metric."""
    found = get_object_or_404(Challenge, name=name)
    if not may_see_board(request.user, found):
        raise Http404("This board is private.")
    asked = request.GET
    track = Track.EXTRA if asked.get("track") == Track.EXTRA else Track.PLAIN
    context = {
        "challenge": found,
        "tracks": Track.choices if found.has_extra_track else [],
        "board": board_of(
            found, track=track, subset=asked.get("subset", ""), sort=asked.get("sort", "")
        ),
    }
    return render(request, "leaderboard/board.html", context)
