"""Names that another team uses are refused without saying what uses them."""

import pytest
from django.utils.html import escape

from annotate.kinds.base import CampaignNotPossible
from annotate.models import Campaign, Release, Selection
from annotate.services.campaigns import create_campaign
from annotate.services.names import LONGEST, refusal
from annotate.services.selections import select_all
from corpora.errors import DomainError
from tests.factories import (
    NOON,
    CampaignFactory,
    ImageFactory,
    SelectionFactory,
    TeamFactory,
    UserFactory,
    config,
)

pytestmark = pytest.mark.django_db

PROPOSAL = "The name 'zebra' is not available. Choose another one, for example 'zebra-lab'."


@pytest.fixture
def lab():
    return TeamFactory(slug="Lab")


def test_a_campaign_of_another_team_is_not_named(lab):
    CampaignFactory(slug="zebra")
    SelectionFactory(name="scenes", team=lab)

    with pytest.raises(CampaignNotPossible) as refused:
        create_campaign(config=config(name="zebra"), endpoint="local", at=NOON, team=lab)

    assert str(refused.value) == f"name: {PROPOSAL}"


def test_a_selection_of_another_team_is_not_named(lab):
    ImageFactory()
    SelectionFactory(name="zebra")

    with pytest.raises(DomainError) as refused:
        select_all(name="zebra", split="validation", team=lab, at=NOON)

    assert str(refused.value) == PROPOSAL


def test_a_team_is_told_of_its_own_row(lab):
    CampaignFactory(slug="zebra", team=lab)

    said = refusal(Campaign.objects.all(), name="zebra", team=lab, noun="campaign", field="slug")

    assert said == "A campaign named 'zebra' already exists. Choose another name."


def test_a_proposed_name_is_free_and_fits(lab):
    long = "x" * LONGEST
    SelectionFactory(name=long)
    SelectionFactory(name=f"{long[:96]}-lab")

    said = refusal(Selection.objects.all(), name=long, team=lab, noun="selection")

    proposed = said.split("'")[3]
    assert len(proposed) <= LONGEST
    assert not Selection.objects.filter(name=proposed).exists()


def test_a_release_of_another_team_is_not_named(lab, client):
    Release.objects.create(
        name="zebra",
        campaign=CampaignFactory(),
        seed=0,
        created_at=NOON,
        is_partial=True,
        context={"imports": []},
    )
    campaign = CampaignFactory(slug="own", team=lab)
    client.force_login(UserFactory(team=lab))
    values = {"name": "zebra", "seed": 1, "partial": True}

    page = client.post(f"/review/{campaign}/releases/", values)
    api = client.post(
        f"/api/campaigns/{campaign}/releases/", values, content_type="application/json"
    )

    assert escape(PROPOSAL) in page.content.decode()
    assert api.json()["detail"] == PROPOSAL
