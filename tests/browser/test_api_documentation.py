"""The page that describes the API, under the site's content security policy."""

import pytest
from playwright.sync_api import Page, expect

from tests.factories import CampaignFactory, UserFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


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
