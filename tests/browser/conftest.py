"""Chromium, the requester site as a live server, and a marketplace process."""

import os
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from annotate.models import Image, Release
from qualcontrol.services.releasing import release_campaign
from tests.chromium import launched
from tests.factories import (
    NOON,
    CampaignFactory,
    ImageFactory,
    ResponseFactory,
    TaskFactory,
)
from tests.hits.conftest import marketplace, requester  # noqa: F401
from tests.servers import PATIENCE

# Playwright keeps an event loop in the test's thread, which Django would take for async code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}

expect.set_options(timeout=1000 * PATIENCE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright, launched(playwright) as chromium:
        yield chromium


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
def worker(marketplace):  # noqa: F811
    return marketplace.fresh_workers(1)[0]


@pytest.fixture
def release() -> Release:
    """A release of two images."""
    campaign = CampaignFactory(slug="scenes", config={"references": 2})
    for number in (1, 2):
        task = TaskFactory(campaign=campaign, number=number, image=ImageFactory(url=""))
        ResponseFactory.create_batch(3, task=task)
    return release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)


SIZES = {"astronaut.png": (512, 512), "chelsea.png": (451, 300), "rocket.jpg": (640, 427)}


@pytest.fixture
def picture(shared_data, settings) -> Callable[[str], dict[str, object]]:
    """Puts a real photograph into MEDIA_ROOT; returns the fields of its image."""

    def put(name: str) -> dict[str, object]:
        path = settings.MEDIA_ROOT / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((shared_data / "images" / name).read_bytes())
        width, height = SIZES[name]
        return {"file": f"images/{name}", "width": width, "height": height}

    return put


@pytest.fixture
def photograph(site, picture) -> Image:
    """A real photograph of an astronaut in front of a flag and a model of a rocket."""
    return ImageFactory(**picture("astronaut.png"), author="NASA")


def keep_picture(page: Page, name: str) -> None:
    """Take a picture, for people who look at it, if SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def let_in(context: BrowserContext, site: str, user: User) -> None:
    """Sign the user in at the requester site without its form."""
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": site}])


@pytest.fixture
def sign_in(page: Page, site: str) -> Callable[[User], None]:
    """Sign a user in at the requester site without its form; no page is opened."""
    return partial(let_in, page.context, site)


@pytest.fixture
def sign_in_by_form(page: Page, site: str):
    """Sign a user in at the requester site with the form."""

    def sign_in_as(user, password: str = "a long password", *, leads_to: str = "/") -> None:
        user.set_password(password)
        user.save()
        page.goto(f"{site}/sign-in/")
        page.get_by_label("Username").fill(user.username)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(site + leads_to)

    return sign_in_as
