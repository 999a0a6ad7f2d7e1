import pytest


@pytest.fixture
def client(marketplace):
    """A requester's client of the API."""
    return marketplace.requester()
