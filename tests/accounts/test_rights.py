"""The rights that a user's roles in teams give."""

import pytest

from accounts.models import Right, TeamRole
from accounts.rights import CHOSEN_TEAM, current_team, teams_with
from accounts.services.teams import add_member
from tests.factories import NOON, TeamFactory, UserFactory

pytestmark = pytest.mark.django_db


def test_a_user_may_change_the_teams_of_their_roles_and_an_operator_every_team(rf):
    team, shown, other = TeamFactory.create_batch(3)
    user = UserFactory(team=team)
    add_member(team=shown, user=user, role=TeamRole.VIEWER, at=NOON)
    request, by_operator = rf.get("/"), rf.get("/")
    request.user, by_operator.user = user, UserFactory(team=False, is_superuser=True)

    assert list(teams_with(request, Right.MANAGE)) == [team]
    assert {team, shown, other} <= set(teams_with(by_operator, Right.MANAGE))


def test_the_chosen_team_is_one_of_the_users_and_for_an_operator_any(rf):
    own, other = TeamFactory.create_batch(2)
    member, operator = UserFactory(team=own), UserFactory(team=own, is_superuser=True)

    def seen_by(user, chosen):
        request = rf.get("/")
        request.user, request.session = user, {CHOSEN_TEAM: chosen.pk}
        return current_team(request)

    assert seen_by(member, other) == own
    assert seen_by(operator, other) == other
