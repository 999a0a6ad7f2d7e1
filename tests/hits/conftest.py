from collections.abc import Iterator

import pytest

from tests.hits.marketplace_process import MarketplaceProcess, running_marketplace


@pytest.fixture(scope="session")
def marketplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MarketplaceProcess]:
    """One marketplace process for the whole run; each test is a different requester."""
    with running_marketplace(tmp_path_factory.mktemp("marketplace")) as process:
        yield process


@pytest.fixture
def requester(marketplace, settings, monkeypatch) -> dict[str, str]:
    """This test's requester, whose keys the requester site uses."""
    keys = marketplace.fresh_requester()
    settings.MARKETPLACE_URL = marketplace.url
    settings.MTURK_ENDPOINT = "local"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", keys["access_key"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", keys["secret_key"])
    return keys
