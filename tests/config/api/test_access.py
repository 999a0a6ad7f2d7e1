"""Who can read the API."""

import pytest

from tests.factories import (
    CampaignFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "address",
    [
        "/api/",
        "/api/campaigns/",
        "/api/campaigns/pilot/",
        "/api/campaigns/pilot/responses/",
        "/api/releases/",
        "/api/releases/v1/",
        "/api/releases/v1/captions.json",
    ],
)
def test_nobody_reads_the_api_without_signing_in(client, address):
    CampaignFactory(slug="pilot")

    assert client.get(address).status_code == 401


def test_a_session_reads_the_api_too(client):
    client.force_login(UserFactory())

    assert client.get("/api/campaigns/").status_code == 200
