"""A published campaign is changed: its budget, the reward of new HITs, and the share of checks."""

from decimal import Decimal

import pytest
from bs4 import BeautifulSoup
from django.db import connection

from annotate.models import Campaign
from hits.models import HitStatus
from hits.queries.costs import spend
from hits.reconcile.reconciler import reconcile
from hits.services.changes import (
    BadChange,
    ChangedMeanwhile,
    change_reward,
    raise_budget,
    raise_review_share,
)
from hits.services.lifecycle import BadAmount, CannotMove
from qualcontrol.models import Act, Decision, SpotCheck
from qualcontrol.services.sampling import draw_spot_checks
from tests.factories import (
    NOON,
    CampaignFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
)
from tests.hits.conftest import make_campaign
from tests.races import while_open
from tests.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return UserFactory()


@pytest.fixture
def signed_in(client, user):
    client.force_login(user)
    return client


@pytest.fixture
def by(user):
    return {"reason": "a pilot took longer", "actor": user, "at": NOON}


def test_a_raised_budget_is_in_the_decision_log(by):
    campaign = CampaignFactory(budget="10.00")

    changed = raise_budget(campaign=campaign, amount=Decimal("5.50"), seen=Decimal("10.00"), **by)

    decision = Decision.objects.get()
    assert changed.budget == Decimal("15.50")
    assert (decision.act, decision.actor) == (Act.BUDGET, by["actor"])
    assert decision.reason == "From $10.00 to $15.50. a pilot took longer"


def test_a_budget_is_not_raised_twice_by_one_form(by):
    campaign = CampaignFactory(budget="10.00")
    once = {"campaign": campaign, "amount": Decimal(5), "seen": Decimal(10), **by}
    raise_budget(**once)

    with pytest.raises(ChangedMeanwhile):
        raise_budget(**once)

    assert Campaign.objects.get().budget == 15
    assert Decision.objects.count() == 1


def test_a_finished_campaign_is_not_changed(by):
    campaign = CampaignFactory(status="FINISHED", budget="10.00")

    for change, values in (
        (raise_budget, {"amount": Decimal(1), "seen": Decimal(10)}),
        (change_reward, {"reward": Decimal("0.20"), "seen": Decimal("0.10")}),
        (raise_review_share, {"share": 0.5, "seen": 0.02}),
    ):
        with pytest.raises(CannotMove):
            change(campaign=campaign, **values, **by)

    assert not Decision.objects.exists()


def test_an_impossible_amount_changes_nothing(by):
    campaign = CampaignFactory(budget="10.00", config={"review": {"share": 0.02}})

    with pytest.raises(BadAmount):
        raise_budget(campaign=campaign, amount=Decimal(-1), seen=Decimal(10), **by)
    with pytest.raises(BadChange):
        change_reward(campaign=campaign, reward=Decimal("0.10"), seen=Decimal("0.10"), **by)
    with pytest.raises(BadChange):
        change_reward(campaign=campaign, reward=Decimal("0.001"), seen=Decimal("0.10"), **by)
    with pytest.raises(BadChange):
        raise_review_share(campaign=campaign, share=0.01, seen=0.02, **by)

    assert not Decision.objects.exists()


def test_a_changed_reward_gives_new_hits_of_a_new_type(requester, by):
    campaign = make_campaign(tasks=2, budget="50.00")
    reconcile(campaign)
    old = campaign.hit_types.get()

    changed = change_reward(campaign=campaign, reward=Decimal("0.25"), seen=Decimal("0.10"), **by)
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


def test_the_budget_holds_after_the_reward_is_raised(requester, by):
    campaign = make_campaign(tasks=4)
    Campaign.objects.filter(pk=campaign.pk).update(budget="1.44")
    reconcile(Campaign.objects.get(pk=campaign.pk))

    change_reward(campaign=campaign, reward=Decimal("0.50"), seen=Decimal("0.10"), **by)
    for _ in range(3):
        found = Campaign.objects.get(pk=campaign.pk)
        reconcile(found)
        assert spend(found).committed <= found.budget

    assert sum(hit.slots for hit in found.hits.filter(status=HitStatus.OPEN)) == 2


def test_hit_types_found_at_the_marketplace_keep_the_earlier_reward(by):
    hit_type = HitTypeFactory()

    change_reward(campaign=hit_type.campaign, reward=Decimal("0.25"), seen=Decimal("0.10"), **by)

    hit_type.refresh_from_db()
    assert hit_type.reward == Decimal("0.10")


def test_a_raised_share_draws_the_checks_that_it_adds(by):
    campaign = CampaignFactory(config={"review": {"share": 0.0, "first": 0}})
    task = TaskFactory(campaign=campaign, wanted=30)
    responses = [ResponseFactory(task=task) for _ in range(20)]

    raise_review_share(campaign=campaign, share=0.5, seen=0.0, **by)
    some = SpotCheck.objects.filter(campaign=campaign, is_random=True).count()
    raise_review_share(campaign=campaign, share=1.0, seen=0.5, **by)

    assert some < SpotCheck.objects.filter(is_random=True).count() == len(responses)
    assert set(Decision.objects.values_list("act", flat=True)) == {Act.SHARE}


def test_a_sync_that_has_read_the_old_share_draws_by_the_new_one(by):
    campaign = CampaignFactory(config={"review": {"share": 0.0, "first": 0}})
    raise_review_share(campaign=Campaign.objects.get(), share=1.0, seen=0.0, **by)
    response = ResponseFactory(task__campaign=campaign)

    draw_spot_checks(campaign=campaign, responses=[response], at=NOON)

    assert SpotCheck.objects.get().is_random


@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("comes_first", ["sync", "share"])
def test_a_raised_share_misses_nothing_that_is_stored_at_this_moment(by, comes_first):
    campaign = CampaignFactory(config={"review": {"share": 0.0, "first": 0}})
    task = TaskFactory(campaign=campaign)

    def store():
        response = ResponseFactory(task=task)
        draw_spot_checks(campaign=campaign, responses=[response], at=NOON)

    def raise_share():
        raise_review_share(campaign=Campaign.objects.get(), share=1.0, seen=0.0, **by)

    while_open(*((store, raise_share) if comes_first == "sync" else (raise_share, store)))

    assert SpotCheck.objects.get().is_random


def test_the_page_changes_each_value_once(signed_in):
    CampaignFactory(slug="pilot", budget="10.00")

    def post(what, value):
        page = BeautifulSoup(signed_in.get("/campaigns/pilot/change/").content, "html.parser")
        seen = page.find("input", {"name": f"{what}-seen"})["value"]
        fields = {"what": what, f"{what}-seen": seen, f"{what}-value": value, f"{what}-note": "x"}
        return [signed_in.post("/campaigns/pilot/change/", fields).status_code for _ in range(2)]

    assert post("budget", "5") == [302, 422]
    assert post("reward", "0.20") == [302, 422]
    assert post("share", "30") == [302, 422]

    campaign = Campaign.objects.get()
    assert campaign.budget == 15
    assert campaign.config.hit.reward == Decimal("0.20")
    assert campaign.config.review.share == 0.3
    log = signed_in.get("/review/pilot/decisions/").content.decode()
    assert "From $10.00 to $15.00. x" in log


@pytest.mark.django_db(transaction=True)
def test_of_two_changes_at_once_one_is_made(by):
    campaign = CampaignFactory(budget="10.00")

    def change(amount):
        try:
            raise_budget(campaign=campaign, amount=Decimal(amount), seen=Decimal(10), **by)
        except ChangedMeanwhile:
            return 0
        return amount

    added = at_once(change, [1, 2])

    assert sorted(map(bool, added)) == [False, True]
    assert Campaign.objects.get().budget == 10 + sum(added)
    assert Decision.objects.count() == 1


@pytest.mark.parametrize("fields", [{}, {"what": "reward", "reward-value": "much"}, {"what": "x"}])
def test_bad_input_changes_nothing(signed_in, fields):
    campaign = CampaignFactory(slug="pilot")

    answer = signed_in.post("/campaigns/pilot/change/", fields)

    assert answer.status_code in {200, 422}
    assert Campaign.objects.get().config_json == campaign.config_json
    assert not Decision.objects.exists()


@pytest.mark.parametrize("status", ["DRAFT", "FINISHED"])
def test_only_a_campaign_under_way_has_the_page(signed_in, status):
    CampaignFactory(slug="pilot", status=status)

    assert signed_in.get("/campaigns/pilot/change/").status_code == 302


def test_finishing_shows_its_consequences_first(signed_in):
    campaign = CampaignFactory(slug="pilot", tasks=1)
    HitFactory(hit_type__campaign=campaign, slots=9, available=7, pending=2)

    text = " ".join(
        BeautifulSoup(signed_in.get("/campaigns/pilot/finish/confirm/").content, "html.parser")
        .get_text(" ")
        .split()
    )

    assert "cannot be resumed" in text
    assert "Assignments that nobody has accepted: withdrawn 7" in text
    assert "Accepted assignments: can be submitted, and are paid 2" in text
    assert "released $0.84" in text
    assert "0 of 1 image is complete" in text
    assert Campaign.objects.get().status == "RUNNING"


def test_pausing_shows_its_consequences_first(signed_in):
    CampaignFactory(slug="pilot")

    page = signed_in.get("/campaigns/pilot/pause/confirm/").content.decode()

    assert "you can resume the campaign" in page
    assert Campaign.objects.get().status == "RUNNING"
