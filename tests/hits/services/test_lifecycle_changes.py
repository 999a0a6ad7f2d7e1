"""Changes of a published campaign: its budget, its reward and its share of checks."""

from decimal import Decimal

import pytest
from django.db import connection

from annotate.models import Campaign
from hits.models import HitStatus
from hits.queries.costs import spend
from hits.reconcile.reconciler import reconcile
from hits.services.lifecycle import (
    BadAmount,
    BadChange,
    CannotMove,
    ChangedMeanwhile,
    add_to_budget,
    change_reward,
    raise_review_share,
)
from qualcontrol.models import Act, Decision, SpotCheck
from qualcontrol.services.sampling import draw_spot_checks
from tests.factories import (
    NOON,
    CampaignFactory,
    HitTypeFactory,
    ResponseFactory,
    TaskFactory,
    make_campaign,
)
from tests.hits.framed_work import published
from tests.races import while_open
from tests.threads import at_once

pytestmark = pytest.mark.django_db


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


@pytest.fixture
def decided(user):
    return {"reason": "a pilot took longer", "actor": user, "at": NOON}


def test_a_raised_budget_is_in_the_decision_log(decided):
    campaign = CampaignFactory(budget="10.00")

    add_to_budget(campaign=campaign, amount=Decimal("5.50"), seen=Decimal("10.00"), **decided)

    decision = Decision.objects.get()
    assert campaign.budget == Decimal("15.50")
    assert (decision.act, decision.actor) == (Act.BUDGET, decided["actor"])
    assert decision.reason == "From $10.00 to $15.50. a pilot took longer"


def test_a_budget_is_not_raised_twice_by_one_form(decided):
    campaign = CampaignFactory(budget="10.00")
    once = {"campaign": campaign, "amount": Decimal(5), "seen": Decimal(10), **decided}
    add_to_budget(**once)

    with pytest.raises(ChangedMeanwhile):
        add_to_budget(**once)

    assert Campaign.objects.get().budget == 15
    assert Decision.objects.count() == 1


def test_a_finished_campaign_is_not_changed(decided):
    campaign = CampaignFactory(status="FINISHED", budget="10.00")

    for change, values in (
        (add_to_budget, {"amount": Decimal(1), "seen": Decimal(10)}),
        (change_reward, {"reward": Decimal("0.20"), "seen": Decimal("0.10")}),
        (raise_review_share, {"share": 0.5, "seen": 0.02}),
    ):
        with pytest.raises(CannotMove):
            change(campaign=campaign, **values, **decided)

    assert not Decision.objects.exists()


def test_an_impossible_amount_changes_nothing(decided):
    campaign = CampaignFactory(budget="10.00", config={"review": {"share": 0.02}})

    with pytest.raises(BadAmount):
        add_to_budget(campaign=campaign, amount=Decimal(-1), seen=Decimal(10), **decided)
    with pytest.raises(BadChange):
        change_reward(campaign=campaign, reward=Decimal("0.10"), seen=Decimal("0.10"), **decided)
    with pytest.raises(BadChange):
        change_reward(campaign=campaign, reward=Decimal("0.001"), seen=Decimal("0.10"), **decided)
    with pytest.raises(BadChange):
        raise_review_share(campaign=campaign, share=0.01, seen=0.02, **decided)

    assert not Decision.objects.exists()


def test_a_changed_reward_gives_new_hits_of_a_new_type(requester, decided):
    campaign = published(tasks=2, budget="50.00")
    old = campaign.hit_types.get()

    changed = change_reward(
        campaign=campaign, reward=Decimal("0.25"), seen=Decimal("0.10"), **decided
    )
    for _ in range(3):
        reconcile(Campaign.objects.get(pk=campaign.pk))

    new = changed.hit_types.exclude(pk=old.pk).get()
    open_now = changed.hits.filter(status=HitStatus.OPEN)
    assert {hit.reward for hit in open_now} == {Decimal("0.25")}
    assert {hit.hit_type_id for hit in open_now} == {new.pk}
    assert new.exclusion_type_id == old.exclusion_type_id
    assert sum(hit.slots for hit in open_now) == 6
    assert not changed.hits.filter(hit_type=old, available__gt=0).exists()
    assert Decision.objects.get().reason.startswith("From $0.10 to $0.25.")


def test_the_budget_holds_after_the_reward_is_raised(requester, decided):
    campaign = make_campaign(tasks=4)
    Campaign.objects.filter(pk=campaign.pk).update(budget="1.44")
    reconcile(Campaign.objects.get(pk=campaign.pk))

    change_reward(campaign=campaign, reward=Decimal("0.50"), seen=Decimal("0.10"), **decided)
    for _ in range(3):
        found = Campaign.objects.get(pk=campaign.pk)
        reconcile(found)
        assert spend(found).committed <= found.budget

    assert sum(hit.slots for hit in found.hits.filter(status=HitStatus.OPEN)) == 2


def test_hit_types_found_at_the_marketplace_keep_the_earlier_reward(decided):
    campaign = CampaignFactory(config={"hit": {"reward": "0.10"}})
    found = HitTypeFactory(campaign=campaign, reward=None)

    change_reward(campaign=campaign, reward=Decimal("0.25"), seen=Decimal("0.10"), **decided)

    found.refresh_from_db()
    assert found.reward == Decimal("0.10")


def test_a_raised_share_draws_the_checks_that_it_adds(decided):
    campaign = CampaignFactory(config={"review": {"share": 0.0, "first": 0}})
    task = TaskFactory(campaign=campaign, wanted=30)
    responses = [ResponseFactory(task=task) for _ in range(20)]

    raise_review_share(campaign=campaign, share=0.5, seen=0.0, **decided)
    some = SpotCheck.objects.filter(campaign=campaign, is_random=True).count()
    raise_review_share(campaign=campaign, share=1.0, seen=0.5, **decided)

    assert some < SpotCheck.objects.filter(is_random=True).count() == len(responses)
    assert set(Decision.objects.values_list("act", flat=True)) == {Act.SHARE}


def test_a_sync_that_has_read_the_old_share_draws_by_the_new_one(decided):
    campaign = CampaignFactory(config={"review": {"share": 0.0, "first": 0}})
    raise_review_share(campaign=Campaign.objects.get(), share=1.0, seen=0.0, **decided)
    response = ResponseFactory(task__campaign=campaign)

    draw_spot_checks(campaign=campaign, responses=[response], at=NOON)

    assert SpotCheck.objects.get().is_random


@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("comes_first", ["sync", "share"])
def test_a_raised_share_misses_nothing_that_is_stored_at_this_moment(decided, comes_first):
    campaign = CampaignFactory(config={"review": {"share": 0.0, "first": 0}})
    task = TaskFactory(campaign=campaign)

    def store():
        response = ResponseFactory(task=task)
        draw_spot_checks(campaign=campaign, responses=[response], at=NOON)

    def raise_share():
        raise_review_share(campaign=Campaign.objects.get(), share=1.0, seen=0.0, **decided)

    while_open(*((store, raise_share) if comes_first == "sync" else (raise_share, store)))

    assert SpotCheck.objects.get().is_random


@pytest.mark.django_db(transaction=True)
def test_of_two_changes_at_once_one_is_made(decided):
    campaign = CampaignFactory(budget="10.00")

    def change(amount):
        try:
            add_to_budget(campaign=campaign, amount=Decimal(amount), seen=Decimal(10), **decided)
        except ChangedMeanwhile:
            return 0
        return amount

    added = at_once(change, [1, 2])

    assert sorted(map(bool, added)) == [False, True]
    assert Campaign.objects.get().budget == 10 + sum(added)
    assert Decision.objects.count() == 1
