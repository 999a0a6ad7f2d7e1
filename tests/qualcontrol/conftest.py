import pytest

from tests.factories import CampaignFactory, UserFactory


@pytest.fixture
def reviewer(client):
    """A user who is signed in."""
    user = UserFactory()
    client.force_login(user)
    return user


@pytest.fixture
def campaign():
    """A campaign without tasks, called pilot."""
    return CampaignFactory(slug="pilot")
