"""The user's teams, and what the user may open and change: the same for pages and the API.

A row of another team is not found (404). A row of the user's own team that their role does not
allow is refused (403) with a sentence that says why.
"""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import RIGHTS, Membership, Right, Team, TeamRole
from accounts.services.teams import first_team

# The key of the session with the team that the user has chosen.
CHOSEN_TEAM = "team"
# The field of every form with the team for which it was shown (`csrf_token` in templatetags).
FORM_TEAM = "form_team"
LEFT_TEAM = (
    "This form was shown for a team of which you are not a member any more. Load the page again."
)
NO_TEAM = (
    "You are not a member of a team. Ask a researcher for an invitation to their team, or an "
    "operator of this site to make a team for you."
)


def require(request: Any, team: Team, may: Right) -> None:
    """Raise PermissionDenied unless the user has this right in the team."""
    rights = request.rights = rights_in(request, team)
    if may in rights:
        return
    role = roles_of(request).get(team.pk)
    if role is None:
        raise PermissionDenied(f"You are not a member of the team {team}.")
    raise PermissionDenied(
        f"Your role in the team {team} is {TeamRole(role).label}. With it you may not {may}. "
        "Ask a researcher of the team to do it, or to change your role."
    )


def rights_in(request: Any, team: Team | None) -> frozenset[Right]:
    """The user's rights to the team's rows; operators have all."""
    if request.user.is_superuser:
        return frozenset(Right)
    if not request.user.is_authenticated:
        return frozenset()
    role = roles_of(request).get(team.pk) if team else None
    return RIGHTS[TeamRole(role)] if role else frozenset()


def teams_with(request: Any, may: Right) -> QuerySet[Team]:
    if request.user.is_superuser:
        return Team.objects.all()
    roles = roles_of(request).items()
    return Team.objects.filter(pk__in=[pk for pk, role in roles if may in RIGHTS[TeamRole(role)]])


def roles_of(request: Any) -> dict[int, str]:
    """The user's role by the team's primary key."""
    return {member.team_id: member.role for member in memberships_of(request)}


def memberships_of(request: Any) -> list[Membership]:
    """The user's memberships with their teams, the oldest first; read once for each request."""
    memberships: list[Membership] | None = getattr(request, "memberships", None)
    if memberships is None:
        mine = Membership.objects.current().filter(user=request.user.pk)
        memberships = request.memberships = list(mine.select_related("team").order_by("pk"))
    return memberships


def current_team(request: Any) -> Team | None:
    """The team whose lists the user sees: the one they chose, or else their first one.

    For a posted form, it is the team for which the form was shown, also if another tab has chosen
    another one since.
    """
    if not hasattr(request, "current_team"):
        is_known = request.user.is_authenticated
        request.current_team = _current_team(request) if is_known else None
    team: Team | None = request.current_team
    return team


def _current_team(request: Any) -> Team | None:
    shown = getattr(request, "form_team", None)
    if shown is not None:
        return team_with_key(request.user, shown)
    chosen = getattr(request, "session", {}).get(CHOSEN_TEAM)
    mine = {member.team_id: member.team for member in memberships_of(request)}
    if chosen in mine:
        return mine[chosen]
    if chosen and request.user.is_superuser:
        team = Team.objects.filter(pk=chosen).first()
        if team:
            return team
    if mine:
        return next(iter(mine.values()))
    return first_team(at=timezone.now()) if request.user.is_superuser else None


def team_with_key(user: Any, key: str) -> Team | None:
    """The user's team with this primary key, which a form sends; None if there is none."""
    is_key = key.isascii() and key.isdigit() and len(key) < 19
    return Team.objects.of(user).filter(pk=int(key)).first() if is_key else None


def team_to_change(request: Any, may: Right = Right.MANAGE) -> Team:
    """The current team, which owns what the user creates; raises PermissionDenied."""
    team = current_team(request)
    if team is None:
        shown = getattr(request, "form_team", None)
        raise PermissionDenied(NO_TEAM if shown is None else LEFT_TEAM)
    require(request, team, may)
    return team
