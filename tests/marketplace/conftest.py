"""A marketplace on a local port, and its users."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.wsgi import get_wsgi_application
from django.db import connections
from django.test import Client
from playwright.sync_api import expect, sync_playwright
from waitress import wasyncore
from waitress.server import create_server

from tests.chromium import launched
from tests.marketplace.driver import Marketplace, is_foreign
from tests.servers import PATIENCE


@contextmanager
def serving(application: Any, *, threads: int) -> Iterator[str]:
    """Serve the application until the end of the block; yields its URL."""
    server = create_server(application, host="127.0.0.1", port=0, threads=threads)

    def run() -> None:
        with suppress(OSError, ValueError):
            server.run()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.task_dispatcher.shutdown()
        server.close()
        # Connections that clients keep alive would keep the server's loop going for two minutes.
        wasyncore.close_all(server._map)
        thread.join(timeout=PATIENCE)


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """URL of a server in a thread of this process."""
    # A connection that outlives its request would keep the test database from being dropped.
    connections.settings["default"]["CONN_MAX_AGE"] = 0
    with serving(get_wsgi_application(), threads=8) as url:
        yield url


@pytest.fixture
def marketplace(request, transactional_db, settings) -> Iterator[Marketplace]:
    """An empty marketplace for boto3 clients and workers' browsers.

    With CONFORMANCE_URL, the marketplace at that URL, which may contain other data.
    """
    if is_foreign():
        site = Marketplace(os.environ["CONFORMANCE_URL"])
    else:
        site = Marketplace(request.getfixturevalue("server_url"))
        settings.MARKETPLACE_URL = site.url
        settings.TEST_HOOKS = True
    yield site
    site.put_right()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium for the test."""
    expect.set_options(timeout=1000 * PATIENCE)
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # The browser's own event loop runs in this thread; the database is used between its calls.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        with launched(playwright) as chromium:
            yield chromium


@pytest.fixture
def page(browser) -> Iterator[Any]:
    """A page of that browser."""
    made = browser.new_page()
    made.set_default_timeout(1000 * PATIENCE)
    yield made
    made.close()


@pytest.fixture
def without_pauses(monkeypatch) -> None:
    """Remove the pauses between botocore's retries."""
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda seconds: None))


@pytest.fixture
def operator(django_user_model) -> Client:
    """A client signed in as an operator."""
    client = Client()
    client.force_login(django_user_model.objects.create_user("root", is_staff=True))
    return client
