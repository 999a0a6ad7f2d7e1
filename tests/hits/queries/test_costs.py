"""Costs of assignments, and of a campaign here and at Prolific, and the paid number of a retired
HIT."""

from decimal import Decimal
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.db import IntegrityError
from django.urls import reverse

from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS
from annotate.services.drafts import begin_draft
from hits.models import Assignment, Hit
from hits.queries.costs import ZERO, estimate, fee_for, panel_estimate, shortfall, slot_cost, spend
from hits.reconcile.reconciler import reconcile
from hits.reconcile.top_up import plan_slots
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
    UserFactory,
    make_campaign,
)
from tests.hits.framed_work import published

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("assignments", "masters", "fee"),
    [(9, False, "0.02"), (11, False, "0.04"), (9, True, "0.03"), (11, True, "0.05")],
)
def test_the_fee_of_a_caption_at_ten_cents(assignments, masters, fee):
    """The pricing page rounds half a cent up: 25% and 45% of ten cents are 2.5 and 4.5."""
    assert fee_for(Decimal("0.10"), assignments, masters=masters) == Decimal(fee)


@pytest.mark.parametrize(
    ("tasks", "wanted", "assignments", "images", "complete", "hits"),
    [
        (10, 3, 9, 1, 0, 10),
        (10, 11, 9, 1, 0, 13),
        (2, 3, 2, 1, 0, 3),
        (9, 3, 9, 3, 0, 3),
        (10, 3, 9, 3, 0, 4),
    ]
    + [(10, 3, 9, 1, 4, 6), (10, 3, 9, 3, 0, 4)],
)
def test_the_estimate_has_as_many_hits_as_are_made(
    tasks, wanted, assignments, images, complete, hits
):
    """`complete` tasks have imported captions only."""
    campaign = CampaignFactory(config={"hit": {"assignments": assignments, "images": images}})
    made = TaskFactory.create_batch(tasks, campaign=campaign, wanted=wanted)
    for task in made[:complete]:
        ResponseFactory.create_batch(wanted, task=task)

    found = estimate(campaign)
    plan_slots(SimpleNamespace(campaign=campaign, at=NOON), HitTypeFactory(campaign=campaign))

    assert (found.hits, campaign.hits.count()) == (hits, hits)


def assignment(hit, status):
    decided_at = None if status == "SUBMITTED" else NOON
    return AssignmentFactory(hit=hit, status=status, decided_at=decided_at)


def test_retiring_a_hit_counts_its_paid_assignments_and_moves_no_money():
    hit = HitFactory(reward="0.10", fee="0.02", available=0)
    for status in ("APPROVED", "APPROVED", "REJECTED", "LOST"):
        assignment(hit, status)
    before = spend(hit.campaign)

    assert Hit.objects.filter(pk=hit.pk).retire() == 1

    hit.refresh_from_db()
    assert (hit.status, hit.paid) == ("RETIRED", 2)
    assert spend(hit.campaign) == before
    assert f"{before.paid:.2f}" == "0.24"


def test_an_assignment_lost_before_its_hit_was_gone_is_not_paid():
    hit = HitFactory(reward="0.10", fee="0.02", available=0, status="GONE")
    assignment(hit, "LOST")  # with its HIT, so it may have been paid
    before = assignment(hit, "LOST").submission
    before.lost_at = NOON
    before.save()

    assert f"{spend(hit.campaign).paid:.2f}" == "0.12"


def test_a_retired_hit_without_assignments_has_paid_none():
    hit = HitFactory()

    Hit.objects.filter(pk=hit.pk).retire()

    hit.refresh_from_db()
    assert hit.paid == 0


def test_an_undecided_assignment_keeps_the_money_of_a_retired_hit_in_sight():
    hit = HitFactory(reward="0.10", fee="0.02", available=0)
    late = assignment(hit, "SUBMITTED")
    assignment(hit, "APPROVED")

    Hit.objects.filter(pk=hit.pk).retire()

    assert f"{spend(hit.campaign).owed:.2f}" == "0.12"
    Assignment.objects.filter(pk=late.pk).update(status="APPROVED", decided_at=NOON)
    assert f"{spend(hit.campaign).paid:.2f}" == "0.24"


def test_a_hit_that_is_open_has_no_number_of_paid_assignments():
    hit = HitFactory()

    with pytest.raises(IntegrityError, match="hit_paid_once_retired"):
        Hit.objects.filter(pk=hit.pk).update(paid=1)


UNPAID = {"hit": {"reward": "0"}, "workers": {"who": "own"}, "budget": "0"}


def test_a_campaign_without_reward_and_budget_gets_its_hits(marketplace, requester):
    campaign = published(tasks=2, **UNPAID)

    assert sum(hit.slots for hit in Hit.objects.all()) == 6
    assert {(hit.reward, hit.fee) for hit in Hit.objects.all()} == {(ZERO, ZERO)}
    assert spend(campaign).committed == ZERO
    assert estimate(campaign).total == slot_cost(campaign.config) == fee_for(ZERO, 10) == ZERO
    assert shortfall(campaign, spend(campaign)) is None


def test_a_second_sync_of_an_unpaid_campaign_creates_nothing_more(marketplace, requester):
    campaign = published(tasks=2, **UNPAID)
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


# Prolific's fees, beside the marketplace's


@pytest.fixture
def prolific(settings):
    """Prolific's fees for this test."""
    settings.PROLIFIC_SERVICE_FEE = Decimal("0.3333")
    settings.PROLIFIC_VAT = Decimal("0.20")
    settings.PROLIFIC_LEAST_PER_HOUR = Decimal("8.00")


def test_fees_and_vat_come_on_top_of_the_rewards(prolific):
    cost = estimate(make_campaign(tasks=100, hit={"reward": "0.10"}))

    found = panel_estimate(cost)

    assert cost.rewards == Decimal("30.00")
    assert (found.rewards, found.fees, found.tax, found.total) == tuple(
        map(Decimal, ("30.00", "10.00", "2.00", "42.00"))
    )
    assert (found.per_hour, found.is_paid_enough) == (Decimal("9.00"), True)
    assert not panel_estimate(cost, per_hour=Decimal("7.99")).is_paid_enough


@pytest.mark.parametrize(
    ("who", "reward", "shows", "warns"),
    [
        ("panel", "0.10", True, False),
        ("panel", "0.08", True, True),
        ("nocaps", "0.08", True, False),
        ("own", "0.08", False, False),
    ],
)
def test_the_command_compares_both(prolific, capsys, who, reward, shows, warns):
    campaign = make_campaign(tasks=1, hit={"reward": reward}, workers={"who": who})

    call_command("estimate", campaign.slug)

    said = capsys.readouterr().out
    assert ("total by Prolific" in said) == shows
    assert ("$8.00 per hour" in said) == shows
    assert ("below the minimum" in said) == warns


@pytest.mark.parametrize(("who", "shows"), [("panel", True), ("nocaps", True), ("own", False)])
def test_new_campaign_compares_both(prolific, client, who, shows):
    user = UserFactory()
    client.force_login(user)
    SelectionFactory(name="streets", images=100)
    file = {
        "name": "x",
        "selection": "streets",
        "references": 2,
        "budget": "99.00",
        "hit": {"reward": "0.08"},
        "workers": {"who": who},
    }
    draft = begin_draft(owner=user, file=file, at=NOON)

    page = client.get(reverse("hits:new_step", args=[draft.pk, "reward"])).content.decode()

    assert ("The same rewards by Prolific" in page) == shows
    assert ("$33.60" in page) == shows
    assert ("$7.20 per hour. Prolific" in page) == shows


@pytest.mark.parametrize(("who", "total"), [("panel", "42.00"), ("own", None)])
def test_the_api_compares_both(prolific, client, who, total):
    campaign = make_campaign(tasks=100, hit={"reward": "0.10"}, workers={"who": who})
    client.force_login(UserFactory(is_superuser=True))

    shown = client.get(reverse("api-campaign-estimate", args=[campaign.slug])).json()

    assert (shown["prolific"] or {}).get("total") == total
    if total:
        assert shown["prolific"]["is_paid_enough"] is True
