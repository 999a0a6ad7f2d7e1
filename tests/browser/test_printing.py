"""Pages on paper, and the table behind each chart."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from qualcontrol.services.intake import review_submitted
from tests.factories import ResponseFactory, UserFactory, WorkerAccountFactory, make_campaign

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# The width of A4 paper, without its margins, at 96 dots per inch.
PAPER = {"width": 720, "height": 1000}
PAGES = ["campaigns/{}/", "campaigns/{}/responses/", "review/{}/workers/"]
# Parts that are cut off at the right, and tables that are not shown.
NOT_WHOLE = """() => [...document.querySelectorAll("main table, main svg.chart")]
  .filter((one) => !one.checkVisibility() || one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => one.outerHTML.slice(0, 120))"""
# Heads of columns whose words are cut into letters: they are higher than four lines.
CUT_WORDS = """() => [...document.querySelectorAll("main thead th")]
  .filter((one) => one.getBoundingClientRect().height > 100).map((one) => one.textContent)"""
# Charts whose card has no table with a row of numbers.
WITHOUT_TABLE = """() => [...document.querySelectorAll("main svg.chart")]
  .filter((one) => !one.closest("section, .card").querySelector("table tbody tr"))
  .map((one) => one.getAttribute("aria-label"))"""


@pytest.fixture
def campaign(site):
    """A campaign with captions of the last three hours."""
    campaign = make_campaign(tasks=3, review={"first": 1, "share": 0})
    workers = [WorkerAccountFactory().worker for _ in range(2)]
    for hours, task in enumerate(campaign.tasks.all(), start=1):
        at = timezone.now() - timedelta(hours=hours)
        responses = [
            ResponseFactory(task=task, worker=worker, submitted_at=at) for worker in workers
        ]
        review_submitted(campaign=campaign, responses=responses, at=timezone.now())
    return campaign


def open_overview(page: Page, site: str, campaign) -> None:
    page.goto(f"{site}/campaigns/{campaign.slug}/")
    # This chart is loaded after the page.
    expect(page.locator("svg.course")).to_be_visible()


@pytest.mark.parametrize("path", PAGES)
def test_a_printed_page_has_no_navigation_and_whole_tables(page, site, sign_in, campaign, path):
    sign_in(UserFactory())
    if path == PAGES[0]:
        open_overview(page, site, campaign)
    page.goto(f"{site}/{path.format(campaign.slug)}")
    page.wait_for_load_state("networkidle")
    page.set_viewport_size(PAPER)

    page.emulate_media(media="print")

    for navigation in page.get_by_role("navigation").all():
        expect(navigation).to_be_hidden()
    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
    expect(page.get_by_role("search")).to_be_hidden()
    assert page.locator("main table").count() > 0
    assert page.evaluate(NOT_WHOLE) == []
    assert page.evaluate(CUT_WORDS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER["width"]


def test_each_chart_has_a_table_with_its_numbers(page, site, sign_in, campaign):
    sign_in(UserFactory())

    open_overview(page, site, campaign)

    assert page.locator("main svg.chart").count() >= 3
    assert page.evaluate(WITHOUT_TABLE) == []
