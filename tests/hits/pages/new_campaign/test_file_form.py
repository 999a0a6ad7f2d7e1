"""Campaign files that are pasted."""

import pytest

from annotate.models import Campaign, CampaignStatus
from tests.factories import ImageFactory, SelectionFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def signed_in(client):
    client.force_login(UserFactory())
    return client


def test_a_draft_is_made_from_a_pasted_file(signed_in):
    SelectionFactory(name="few", images=[ImageFactory(), ImageFactory()])
    text = 'name = "mine"\npreset = "coco-c5"\nselection = "few"\nbudget = "25.00"\n'

    answer = signed_in.post("/new/", {"text": text})

    campaign = Campaign.objects.get()
    assert answer.url == "/campaigns/mine/"
    assert (campaign.status, campaign.tasks.count()) == (CampaignStatus.DRAFT, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Choose a campaign file or paste its text."),
        ("name = ", "The text: not TOML: Invalid value"),
        ('name = "mine"', "budget: "),
        ('name = "mine"\nbudget = "1"', "one of selection"),
        ('name = "mine"\nselection = "few"\nbudget = "1"', "there is no selection"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(signed_in, text, message):
    answer = signed_in.post("/new/", {"text": text})

    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not Campaign.objects.exists()
