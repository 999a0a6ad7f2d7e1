"""Create teams and change their members."""

from datetime import datetime

from django.contrib.auth.models import User

from annotate.models import Membership, Team, TeamRole
from annotate.models.teams import FIRST_TEAM


def first_team(*, at: datetime) -> Team:
    """The team of everything that names no other team, created at first use."""
    team, _ = Team.objects.get_or_create(
        slug=FIRST_TEAM, defaults={"name": "Default team", "created_at": at}
    )
    return team


def add_member(*, team: Team, user: User, role: TeamRole, at: datetime) -> Membership:
    """Give the user this role in the team, also if they have another role there."""
    member, _ = Membership.objects.update_or_create(
        team=team,
        user=user,
        ended_at=None,
        defaults={"role": role},
        create_defaults={"role": role, "joined_at": at},
    )
    return member
