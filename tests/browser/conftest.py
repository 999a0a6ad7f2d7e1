"""Chromium, the requester site as a live server, and a marketplace process."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.hits.conftest import marketplace, requester  # noqa: F401
from tests.servers import PATIENCE

# Playwright keeps an event loop in the test's thread, which Django would take for async code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

CHROMIUM = os.environ.get("CHROMIUM", "") or shutil.which("chromium") or ""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}

expect.set_options(timeout=1000 * PATIENCE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.fail("Chromium is not installed (Debian's package is called chromium).")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport=DESKTOP)
    made.set_default_timeout(1000 * PATIENCE)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    yield context.new_page()
    context.close()


@pytest.fixture
def title(request: pytest.FixtureRequest) -> str:
    """A title that no other test gives its campaign: all of them share one marketplace."""
    return f"{request.path.stem.removeprefix('test_')}: {request.node.name}"[:120]


@pytest.fixture
def site(live_server, settings, requester) -> str:  # noqa: F811
    """The requester site, whose own URL is set in the settings."""
    settings.SITE_URL = live_server.url
    settings.ALLOWED_HOSTS = ["*"]
    return live_server.url


@pytest.fixture
def sign_in(page: Page, site: str):
    """Sign a user in at the requester site with the form."""

    def sign_in_as(user, password: str = "a long password") -> None:
        user.set_password(password)
        user.save()
        page.goto(f"{site}/sign-in/")
        page.get_by_label("Username").fill(user.username)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{site}/")

    return sign_in_as
