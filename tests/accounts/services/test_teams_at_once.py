"""Teams that several people change at the same moment."""

import pytest

from accounts.models import Membership, TeamChange, TeamRole
from accounts.services import teams
from accounts.services.teams import InvitationRefused, TeamRefused
from tests.factories import NOON, TeamFactory, UserFactory
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def team():
    return TeamFactory(slug="lab")


def succeeds(act, *refusals) -> bool:
    try:
        act()
    except refusals:
        return False
    return True


def test_of_those_who_accept_an_invitation_at_once_one_joins(team):
    ada = UserFactory(team=team)
    _, text = teams.invite(team=team, role=TeamRole.VIEWER, note="", actor=ada, at=NOON)
    guests = UserFactory.create_batch(6, team=False)

    def accept(user):
        return succeeds(
            lambda: teams.accept_invitation(text=text, user=user, at=NOON), InvitationRefused
        )

    joined = at_once(accept, guests)

    assert joined.count(True) == 1
    assert team.memberships.filter(user__in=guests).count() == 1
    assert TeamChange.objects.filter(team=team, text__contains="joined").count() == 1


def test_one_person_who_accepts_twice_at_once_is_a_member_once(team):
    ada, grace = UserFactory(team=team), UserFactory(team=False)
    texts = [
        teams.invite(team=team, role=TeamRole.VIEWER, note="", actor=ada, at=NOON)[1]
        for _ in range(4)
    ]

    def accept(text):
        return succeeds(
            lambda: teams.accept_invitation(text=text, user=grace, at=NOON), TeamRefused
        )

    assert at_once(accept, texts).count(True) == 1
    assert Membership.objects.current().filter(user=grace).count() == 1


@pytest.mark.parametrize("leave", ["remove", "change"])
def test_the_last_researchers_who_leave_at_once_leave_one(team, leave):
    users = UserFactory.create_batch(3, team=team)

    def act(user):
        member = Membership.objects.select_related("team", "user").get(user=user)
        common = {"member": member, "actor": user, "at": NOON}
        if leave == "remove":
            return succeeds(lambda: teams.remove_member(**common), TeamRefused)
        return succeeds(lambda: teams.change_role(role=TeamRole.VIEWER, **common), TeamRefused)

    assert at_once(act, users).count(False) == 1
    assert team.memberships.researchers().count() == 1
