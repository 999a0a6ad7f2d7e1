"""What a campaign costs by Prolific, beside the marketplace's fees."""

from decimal import Decimal

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotate.services.drafts import begin_draft
from hits.queries.costs import estimate, panel_estimate
from tests.factories import NOON, SelectionFactory, UserFactory
from tests.hits.conftest import make_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture(autouse=True)
def fees(settings):
    settings.PROLIFIC_SERVICE_FEE = Decimal("0.3333")
    settings.PROLIFIC_VAT = Decimal("0.20")
    settings.PROLIFIC_LEAST_PER_HOUR = Decimal("8.00")


def test_fees_and_vat_come_on_top_of_the_rewards():
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
def test_the_command_compares_both(capsys, who, reward, shows, warns):
    campaign = make_campaign(tasks=1, hit={"reward": reward}, workers={"who": who})

    call_command("estimate", campaign.slug)

    said = capsys.readouterr().out
    assert ("total by Prolific" in said) == shows
    assert ("$8.00 per hour" in said) == shows
    assert ("below the minimum" in said) == warns


@pytest.mark.parametrize(("who", "shows"), [("panel", True), ("nocaps", True), ("own", False)])
def test_new_campaign_compares_both(client, who, shows):
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
def test_the_api_compares_both(client, who, total):
    campaign = make_campaign(tasks=100, hit={"reward": "0.10"}, workers={"who": who})
    client.force_login(UserFactory(is_superuser=True))

    shown = client.get(reverse("api-campaign-estimate", args=[campaign.slug])).json()

    assert (shown["prolific"] or {}).get("total") == total
    if total:
        assert shown["prolific"]["is_paid_enough"] is True
