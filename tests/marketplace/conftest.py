"""A marketplace on a port of this machine, and the people who use it."""

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace

import pytest
from django.db import connections
from waitress.server import create_server

from marketplace.wsgi import application
from tests.marketplace.driver import Marketplace, is_foreign


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """The address of a real server in a thread of this process."""
    # A connection that outlives its request would keep the test database from being dropped.
    connections.settings["default"]["CONN_MAX_AGE"] = 0
    server = create_server(application, host="127.0.0.1", port=0, threads=8)

    def run() -> None:
        with suppress(OSError):
            server.run()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.effective_port}"
    server.task_dispatcher.shutdown()
    server.close()
    thread.join(timeout=5)


@pytest.fixture
def marketplace(request, transactional_db, settings) -> Iterator[Marketplace]:
    """An empty marketplace that boto3 clients and workers' browsers can reach; with
    MARKETPLACE_CONFORMANCE_URL set, the one at that address, however full it is."""
    if is_foreign():
        site = Marketplace(os.environ["MARKETPLACE_CONFORMANCE_URL"])
    else:
        site = Marketplace(request.getfixturevalue("server_url"))
        settings.MARKETPLACE_URL = site.url
        settings.TEST_HOOKS = True
    yield site
    site.put_right()


@pytest.fixture
def without_pauses(monkeypatch) -> None:
    """botocore's retries without the waiting between them."""
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda seconds: None))
