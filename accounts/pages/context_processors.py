"""Variables for every template."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from accounts.models import Right, Team
from accounts.pages.signed_in import current_team, rights_in
from shared.version import software_version


def installation(_request: HttpRequest) -> dict[str, str]:
    """The marketplace that this site uses, for the badge on every page, and the site's version."""
    return {"mturk_endpoint": settings.MTURK_ENDPOINT, "version": software_version()}


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
