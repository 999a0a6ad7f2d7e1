"""The messages for a worker whose task can no longer be submitted."""

import pytest
from playwright.sync_api import expect

from tests.marketplace.browser.written_for_amazon import HTML_QUESTION, WRITTEN_FOR_AMAZON
from tests.marketplace.driver import create_hit, create_hit_type

pytestmark = pytest.mark.browser


@pytest.fixture
def accepted(marketplace, page):
    """The page of an accepted task with ten minutes left."""
    client = marketplace.requester()
    question = HTML_QUESTION.format(html=WRITTEN_FOR_AMAZON.format(survey=marketplace.url))
    create_hit(client, create_hit_type(client), Question=question)
    page.goto(marketplace.sign_in_link())
    page.get_by_role("button", name="Accept Describe an image").click()
    page.frame_locator("iframe").get_by_label("Comment").wait_for()
    return page


def submit(page, text: str) -> None:
    frame = page.frame_locator("iframe")
    frame.get_by_label("Comment").fill(text)
    frame.get_by_role("button", name="Submit").click()


def test_a_second_tab_learns_that_the_first_has_submitted(browser, accepted):
    state = accepted.context.storage_state()
    second = browser.new_context(storage_state=state).new_page()
    second.goto(accepted.url)
    submit(accepted, "A dog.")
    accepted.get_by_text("Your answers were submitted. Thank you.").first.wait_for()

    submit(second, "A cat.")

    expect(second.get_by_text("You submitted this HIT.")).to_be_visible()
    expect(second.get_by_text("it is approved and paid automatically on")).to_be_visible()
    expect(second.get_by_role("link", name="More HITs of this group")).to_be_visible()


def test_a_late_submission_ends_on_a_page_with_its_text(marketplace, accepted):
    marketplace.advance(minutes=10)

    submit(accepted, "A dog.")

    expect(accepted.get_by_text("The time for this HIT is over.")).to_be_visible()
    expect(accepted.frame_locator("iframe").get_by_text("A dog.")).to_be_visible()


def test_the_page_says_when_the_time_is_over(accepted):
    notice = accepted.get_by_text("You can no longer submit it.")
    expect(notice).to_be_hidden()

    accepted.clock.install()
    accepted.reload()
    accepted.clock.fast_forward("11:00")

    expect(notice).to_be_visible()
    expect(accepted.get_by_text("Time left: 0:00")).to_be_visible()


def test_after_the_submission_the_end_of_the_time_is_no_news(accepted):
    accepted.clock.install()
    accepted.reload()
    submit(accepted, "A dog.")
    accepted.get_by_text("This was the last HIT of this group").wait_for()

    accepted.clock.fast_forward("11:00")

    expect(accepted.get_by_text("You can no longer submit it.")).to_be_hidden()
