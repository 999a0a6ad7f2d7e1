"""The board of a challenge."""

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotate.accounts.request_limits import limit_reads
from leaderboard.models import Challenge, Track
from leaderboard.pages.challenges import is_own
from leaderboard.queries.boards import board_of


def may_see_board(user: Any, challenge: Challenge) -> bool:
    """Whether the user may see the board: everybody a published one, members of its team each."""
    return challenge.is_published or is_own(user, challenge)


@login_not_required
@require_safe
@limit_reads
def board(request: HttpRequest, name: str) -> HttpResponse:
    """Show the board of one track, for all images or a subset, sorted by a metric."""
    found = get_object_or_404(Challenge, name=name)
    if not may_see_board(request.user, found):
        raise Http404("This board is private.")
    asked = request.GET
    track = Track.EXTRA if asked.get("track") == Track.EXTRA else Track.PLAIN
    context = {
        "challenge": found,
        "is_own": is_own(request.user, found),
        "tracks": Track.choices if found.has_extra_track else [],
        "board": board_of(
            found, track=track, subset=asked.get("subset", ""), sort=asked.get("sort", "")
        ),
    }
    return render(request, "leaderboard/board.html", context)
