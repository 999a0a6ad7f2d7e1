"""Every page of the requester site, from the list of its URLs: accessible, also by the keyboard
alone, and fits the screen.

The page that describes the API is drawn by its own script, under the site's security policy.
"""

import pytest
from django.test import Client
from playwright.sync_api import BrowserContext, Page, expect

from tests.accessibility import RULES, violations
from tests.browser.conftest import PHONE, keep_picture
from tests.config.every_row import world_of_a_team
from tests.factories import CampaignFactory, UserFactory
from tests.routes import ROUTES, address_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDE = {"width": 1600, "height": 1000}
# Pages that other tests look at: the task in its frame, and the API's pages when they are drawn.
ELSEWHERE = {"hits:task", "hits:told", "api-documentation", "logout", "image-copy", "media"}


@pytest.fixture
def world(transactional_db):
    return world_of_a_team()


@pytest.fixture
def pages(world) -> dict[str, str]:
    """The address of each page that a researcher can open, by its route."""
    names, clients = world
    found = {}
    for route in sorted(ROUTES.keys() - ELSEWHERE):
        address = address_of(route, names)
        if is_page(clients["researcher"], address):
            found[route] = address
    return found


def is_page(client: Client, address: str) -> bool:
    answer = client.get(address, headers={"accept": "text/html"})
    return answer.status_code == 200 and not answer.streaming and b"<main" in answer.content


@pytest.fixture
def researcher(context: BrowserContext, site: str, world) -> Page:
    _, clients = world
    session = clients["researcher"].cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": site}])
    return context.new_page()


def test_every_page_is_accessible_and_fits_the_screen(
    researcher: Page, site: str, pages: dict[str, str]
) -> None:
    faults = []
    for route, address in pages.items():
        researcher.set_viewport_size(PHONE)
        researcher.goto(site + address)
        expect(researcher.locator("main")).to_be_visible()
        # A hidden table is as much part of the page as one that is open.
        researcher.evaluate(
            "document.querySelectorAll('main details').forEach((d) => (d.open = true))"
        )
        for size in (PHONE, WIDE):
            researcher.set_viewport_size(size)
            faults += [f"{address}: {fault}" for fault in faults_of(researcher, route, size)]

    assert len(pages) > 40
    assert not faults, "\n".join(faults)


def faults_of(page: Page, route: str, size: dict[str, int]) -> list[str]:
    """What is wrong with the page on a screen of this size."""
    found = [f"the keyboard passes by {each}" for each in page.evaluate(UNREACHED)]
    for scheme, rules in RULES.items():
        page.emulate_media(color_scheme=scheme)
        keep_picture(page, f"{route.replace(':', '-')}-{size['width']}-{scheme}")
        for frame in page.frames:
            found += [f"({scheme}) {each}" for each in violations(frame, rules)]
    if page.evaluate("document.documentElement.scrollWidth") > size["width"]:
        found.append(f"it is wider than {size['width']} pixels")
    return found


# What a pointer can use and the Tab key passes by.
UNREACHED = """() => [...document.querySelectorAll(
  "a[href], button, input, select, textarea, summary, [onclick], [role=button]"
)].filter((one) => one.checkVisibility() && !one.disabled && one.type !== "hidden")
  .filter((one) => one.tabIndex < 0).map((one) => one.outerHTML.slice(0, 200))"""


def test_the_page_describes_addresses_and_sends_requests(page: Page, site: str, sign_in):
    CampaignFactory(slug="pilot")
    sign_in(UserFactory(is_superuser=True))
    problems, elsewhere = [], []
    page.on("console", lambda message: message.type == "error" and problems.append(message.text))
    page.on("request", lambda sent: sent.url.startswith(site) or elsewhere.append(sent.url))

    page.goto(f"{site}/api/documentation/")
    page.locator("#operations-campaigns-campaigns_estimate_retrieve").get_by_role(
        "button"
    ).first.click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_placeholder("slug").fill("pilot")
    page.get_by_role("button", name="Execute").click()

    expect(page.locator(".live-responses-table")).to_contain_text("dollars_per_hour")
    assert problems == []
    assert [url for url in elsewhere if not url.startswith("data:")] == []


def test_the_page_needs_a_signed_in_user(page: Page, site: str):
    page.goto(f"{site}/api/documentation/")

    expect(page).to_have_url(f"{site}/sign-in/?next=/api/documentation/")
