"""Who published, paused, resumed and finished a campaign or added to its budget is logged."""

from decimal import Decimal

import pytest
from bs4 import BeautifulSoup
from django.core.management import call_command

from annotate.models import Campaign
from hits.services.lifecycle import CannotMove, add_to_budget, finish, pause, publish
from qualcontrol.models import Act, Decision
from qualcontrol.queries.listing import found_decisions
from tests.factories import NOON, CampaignFactory, UserFactory
from tests.hits.conftest import make_campaign
from tests.jobs import run_jobs
from tests.threads import at_once

pytestmark = pytest.mark.django_db

PUBLISHED = [Act.PUBLISH, Act.HALT, Act.CONTINUE, Act.FINISH]


def acts_of(campaign):
    return [decision.act for decision in campaign.decisions.order_by("pk")]


def test_each_move_is_in_the_decision_log_with_its_actor(requester):
    campaign = make_campaign(tasks=1, status="DRAFT")
    ada = UserFactory(username="ada")
    by = {"campaign": campaign, "actor": ada, "at": NOON}

    publish(**by)
    pause(**by)
    publish(**by)
    finish(**by)

    assert acts_of(campaign) == PUBLISHED
    assert {(one.decided_by, one.at) for one in campaign.decisions.all()} == {("ada", NOON)}


def test_a_move_that_is_not_possible_is_not_logged():
    campaign = CampaignFactory(status="DRAFT")

    for move in (pause, finish):
        with pytest.raises(CannotMove):
            move(campaign=campaign, actor=None, at=NOON)

    assert not Decision.objects.exists()


def test_commands_are_named_in_place_of_an_actor(requester):
    campaign = make_campaign(tasks=1, status="DRAFT")

    call_command("publish", campaign.slug)
    call_command("pause", campaign.slug)
    call_command("add_to_budget", campaign.slug, "5")
    call_command("finish", campaign.slug)

    assert acts_of(campaign) == [Act.PUBLISH, Act.HALT, Act.BUDGET, Act.FINISH]
    assert {one.decided_by for one in campaign.decisions.all()} == {"command"}


def test_pages_and_the_api_name_the_account(client, requester):
    campaign = make_campaign(tasks=1, status="DRAFT")
    client.force_login(UserFactory(username="ada"))
    page, api = f"/campaigns/{campaign.slug}", f"/api/campaigns/{campaign.slug}"
    steps = [
        (f"{page}/publish/", {}),
        (f"{page}/pause/", {}),
        (f"{api}/publish/", {}),
        (f"{api}/budget/", {"amount": "2.50"}),
        (f"{api}/pause/", {}),
        (f"{api}/finish/", {}),
    ]

    for address, fields in steps:
        assert client.post(address, fields).status_code in {200, 202, 302}
        run_jobs()

    assert acts_of(campaign) == [
        Act.PUBLISH,
        Act.HALT,
        Act.CONTINUE,
        Act.BUDGET,
        Act.HALT,
        Act.FINISH,
    ]
    assert {one.decided_by for one in campaign.decisions.all()} == {"ada"}


def test_the_log_and_the_overview_say_it_in_words(client):
    campaign = CampaignFactory(slug="pilot", status="RUNNING", budget="10.00")
    client.force_login(UserFactory(username="ada"))
    add_to_budget(campaign=campaign, amount=Decimal("2.5"), actor=None, at=NOON)
    pause(campaign=campaign, actor=UserFactory(username="grace"), at=NOON)

    log = client.get("/review/pilot/decisions/").content.decode()
    overview = client.get("/campaigns/pilot/")

    assert "campaign paused" in log
    assert "From $10.00 to $12.50." in log
    assert "command" in {cell.text.strip() for cell in BeautifulSoup(log, "lxml").select("td")}
    assert overview.status_code == 200
    assert "Campaign paused by grace" in overview.content.decode()


def test_entries_are_found_by_command():
    campaign = CampaignFactory(status="RUNNING")
    pause(campaign=campaign, actor=None, at=NOON)

    assert found_decisions(campaign, {"actor": "command"}).get().act == Act.HALT
    assert not found_decisions(campaign, {"actor": "campaign"}).exists()


@pytest.mark.django_db(transaction=True)
def test_of_several_pauses_at_once_one_is_logged():
    campaign = CampaignFactory(status="RUNNING")
    users = UserFactory.create_batch(4)

    def act(user):
        try:
            pause(campaign=Campaign.objects.get(pk=campaign.pk), actor=user, at=NOON)
        except CannotMove:
            return False
        return True

    assert at_once(act, users).count(True) == 1
    assert acts_of(campaign) == [Act.HALT]


@pytest.mark.django_db(transaction=True)
def test_amounts_added_at_once_are_all_added_and_logged():
    campaign = CampaignFactory(status="RUNNING", budget="10.00")

    def act(_):
        row = Campaign.objects.get(pk=campaign.pk)
        add_to_budget(campaign=row, amount=Decimal(1), actor=None, at=NOON)

    at_once(act, range(4))

    campaign.refresh_from_db()
    assert campaign.budget == 14
    assert campaign.decisions.filter(act=Act.BUDGET).count() == 4
