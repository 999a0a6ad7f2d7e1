"""Campaigns of people who are not paid: no reward, no fee, no budget."""

import pytest

from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS
from hits.models import Hit
from hits.queries.costs import ZERO, estimate, fee_for, shortfall, slot_cost, spend
from hits.reconcile.reconciler import reconcile
from tests.hits.conftest import make_campaign

pytestmark = pytest.mark.django_db

UNPAID = {"hit": {"reward": "0"}, "workers": {"who": "own"}, "budget": "0"}


def test_a_campaign_without_reward_and_budget_gets_its_hits(marketplace, requester):
    campaign = make_campaign(tasks=2, **UNPAID)

    reconcile(campaign)

    assert sum(hit.slots for hit in Hit.objects.all()) == 6
    assert {(hit.reward, hit.fee) for hit in Hit.objects.all()} == {(ZERO, ZERO)}
    assert spend(campaign).committed == ZERO
    assert estimate(campaign).total == slot_cost(campaign) == fee_for(ZERO, 10) == ZERO
    assert shortfall(campaign, spend(campaign)) is None


def test_a_second_sync_of_an_unpaid_campaign_creates_nothing_more(marketplace, requester):
    campaign = make_campaign(tasks=2, **UNPAID)
    reconcile(campaign)
    before = Hit.objects.count()

    reconcile(campaign)

    assert Hit.objects.count() == before


@pytest.mark.parametrize(("who", "is_allowed"), [("own", True), ("panel", True), ("nocaps", False)])
def test_strangers_are_paid(who, is_allowed):
    file = {"name": "x", "selection": "s", "kind": next(iter(KINDS)), **UNPAID}
    file["workers"] = {"who": who}
    if is_allowed:
        assert CampaignConfig.model_validate(file).hit.reward == 0
    else:
        with pytest.raises(ValueError, match="only suits your own people"):
            CampaignConfig.model_validate(file)
