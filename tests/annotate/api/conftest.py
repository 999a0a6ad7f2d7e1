import pytest

from tests.factories import CampaignFactory


@pytest.fixture
def campaign():
    return CampaignFactory(slug="pilot", budget="50.00")
