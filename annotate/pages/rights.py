"""What templates know of the user's rights."""

from typing import Any

from django.http import HttpRequest

from annotate.models import Right, Team
from annotate.pages.signed_in import current_team, rights_in


class May:
    """The rights of the request's user, for templates: `{% if may.manage %}`.

    They are the rights in the team whose campaign or release the page shows, or else in the current
    team. The names are those of `Right`, in small letters.
    """

    def __init__(self, request: HttpRequest) -> None:
        self.request: Any = request

    def __getitem__(self, name: str) -> bool:
        if not getattr(self.request, "user", None):
            return False
        rights = getattr(self.request, "rights", None)
        if rights is None:
            rights = rights_in(self.request, current_team(self.request))
        return Right[name.upper()] in rights


def team(request: HttpRequest) -> dict[str, Any]:
    """For templates: the user's rights as `may`, and the current team as
    `current_team`."""
    return {"may": May(request), "current_team": lambda: _team(request)}


def _team(request: HttpRequest) -> Team | None:
    return current_team(request) if getattr(request, "user", None) else None
