"""What a campaign's page says is to be done."""

from decimal import Decimal

import pytest
from django.utils import timezone

from annotate.models import CampaignStatus
from annotate.services.campaigns import progress
from hits.costs import spend
from hits.models import Sync
from hits.next_steps import next_steps
from qualcontrol.models import Appeal, Proposal
from qualcontrol.services import release_campaign
from tests.factories import (
    NOON,
    CampaignFactory,
    ExclusionFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
)

pytestmark = pytest.mark.django_db


def campaign_of(*, answered: int = 0, **fields):
    """A campaign of one image that wants two captions."""
    campaign = CampaignFactory(config={"references": 1}, **fields)
    task = TaskFactory(campaign=campaign, number=1)
    for _ in range(answered):
        ResponseFactory(task=task)
    return campaign


def sentences(campaign, *, open_checks: int = 0, last_sync: Sync | None = None) -> list[str]:
    steps = next_steps(
        campaign,
        progress=progress(campaign),
        spend=spend(campaign),
        open_checks=open_checks,
        last_sync=last_sync,
    )
    return [step.sentence for step in steps]


def test_a_draft_wants_to_be_published_and_says_what_it_costs():
    campaign = campaign_of(status=CampaignStatus.DRAFT)

    assert sentences(campaign) == [
        "Nothing is published yet. 2 captions cost about $0.24, fees included."
    ]


def test_a_campaign_that_goes_on_by_itself_wants_nothing():
    assert sentences(campaign_of(answered=1)) == []


def test_a_sync_that_stopped_comes_before_all_else():
    campaign = campaign_of(status=CampaignStatus.PAUSED)
    stopped = Sync(campaign=campaign, started_at=NOON, error="no answer")

    found = sentences(campaign, open_checks=1, last_sync=stopped)

    assert found == [
        "The last sync stopped, so this page may lag behind the marketplace.",
        "Paused: no new workers come in.",
        "1 caption waits for review.",
    ]


def test_a_spent_budget_is_told_while_captions_are_missing():
    assert sentences(campaign_of(budget=Decimal("0.05"))) == [
        "The budget is spent, and 2 captions are missing."
    ]
    assert "spent" not in " ".join(sentences(campaign_of(budget=Decimal("0.05"), answered=2)))


def test_what_waits_for_a_decision_is_counted():
    campaign = campaign_of()
    for _ in range(2):
        Proposal.objects.create(
            campaign=campaign, worker=WorkerFactory(), reason="lists", proposed_at=NOON
        )
    exclusion = ExclusionFactory(campaign=campaign)
    Appeal.objects.create(exclusion=exclusion, text="Look again.", received_at=NOON)

    assert sentences(campaign) == [
        "2 workers are proposed for exclusion, and 1 appeal waits for an answer."
    ]


def test_a_complete_campaign_is_released_and_then_finished():
    campaign = campaign_of(answered=2)
    assert sentences(campaign) == ["Every image has its captions, and no question is open."]

    release_campaign(campaign=campaign, name="v1", seed=1, at=timezone.now())
    assert sentences(campaign) == ["It is complete and released. “Finish” closes it for good."]

    campaign.status = CampaignStatus.FINISHED
    assert sentences(campaign) == []


def test_the_campaigns_page_leads_to_each_step(client):
    campaign = campaign_of(answered=2)
    client.force_login(UserFactory())

    page = client.get(campaign.get_absolute_url()).content.decode()

    assert "no question is open." in page
    assert f'class="button" href="/review/{campaign.slug}/releases/"' in page
