"""An invitation to a team, from the link to the first page."""

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import TeamRole
from accounts.services.teams import invite
from tests.factories import TeamFactory, UserFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_new_person_joins_a_team_by_the_link(page: Page, site: str) -> None:
    team = TeamFactory(name="Scenes")
    _, text = invite(
        team=team, role=TeamRole.REVIEWER, note="", actor=UserFactory(team=team), at=timezone.now()
    )

    page.goto(site + reverse("account:invitation", args=[text]))
    page.get_by_label("User name").fill("grace")
    page.get_by_label("Password").fill("a long password")
    page.get_by_role("button", name="Create account and join").click()

    expect(page.get_by_text("You are a reviewer of the team Scenes.")).to_be_visible()
    member = team.memberships.get(user__username="grace")
    assert member.role == TeamRole.REVIEWER
