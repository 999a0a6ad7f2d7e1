"""A person invited by a link does ten captions on a phone, and meets no term of a marketplace."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from annotate.models import Image, Response
from hits.reconcile.reconciler import reconcile
from tests.browser.conftest import PHONE, keep_picture
from tests.browser.own_people import create_group, join, sign_operator_in, terms_in
from tests.factories import make_campaign

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CAPTIONS = 10
SENTENCE = "A small boat number {} lies on a quiet beach beside two people."


@pytest.fixture
def campaign(site, picture, title):
    """A published campaign on twelve photographs, for own people."""
    campaign = make_campaign(tasks=12, hit={"title": title}, workers={"who": "own"})
    Image.objects.filter(tasks__campaign=campaign).update(**picture("chelsea.png"))
    reconcile(campaign)
    return campaign


@pytest.fixture
def link(marketplace, page: Page, campaign, request) -> str:
    """The link of a group that an operator has made for the campaign."""
    name = request.node.name[:60]
    made = marketplace.command("marketplace_operator", name)[0]
    sign_operator_in(page, marketplace.url, made["password"], name)
    return create_group(page, name, campaign.config.hit.title, CAPTIONS)


class Way:
    """The pages on a person's way, each searched for terms and for what does not fit."""

    def __init__(self, page: Page) -> None:
        self.page, self.faults, self.seen = page, list[str](), 0

    def look(self) -> None:
        page = self.page
        self.seen += 1
        self.faults += [f"{page.url}: {term}" for term in terms_in(page)]
        if page.evaluate("document.documentElement.scrollWidth") > PHONE["width"]:
            self.faults.append(f"{page.url} is wider than the screen")
        keep_picture(page, f"way-{self.seen:02}")


def test_ten_captions_on_a_phone_without_a_term_of_the_marketplace(phone: Page, link, campaign):
    way = Way(phone)
    phone.goto(link)
    expect(phone.get_by_text("asks for your help")).to_be_visible()
    way.look()
    assert not Axe().run(phone).response["violations"]

    join(phone, link, "Mia from the course")
    way.look()
    phone.get_by_role("button", name="Start").tap()
    for number in range(1, CAPTIONS + 1):
        expect(phone.get_by_text(f"Task {number} of {CAPTIONS}")).to_be_visible()
        frame = phone.frame_locator("iframe")
        frame.get_by_label("Describe the image in one sentence").fill(SENTENCE.format(number))
        way.look()
        frame.get_by_role("button", name="Submit").tap()
    expect(phone.get_by_text(f"You have done all {CAPTIONS} tasks. Thank you!")).to_be_visible()
    way.look()

    reconcile(campaign)
    for name in ("Done", "Messages", "Account"):
        phone.get_by_role("navigation").get_by_role("link", name=name).tap()
        expect(phone.get_by_role("link", name=name)).to_have_attribute("aria-current", "page")
        way.look()
        assert not Axe().run(phone).response["violations"]
    phone.get_by_role("link", name="Home").tap()
    expect(phone.get_by_text("Accepted").first).to_be_visible()
    way.look()

    assert Response.objects.count() == CAPTIONS
    assert way.seen == CAPTIONS + 7
    assert not way.faults


def test_a_task_that_is_left_is_continued_with_what_was_written(phone: Page, link, campaign):
    join(phone, link, "Noa from the course")
    phone.get_by_role("button", name="Start").tap()
    frame = phone.frame_locator("iframe")
    frame.get_by_label("Describe the image in one sentence").fill(SENTENCE.format(1))
    # The scripts of two pages hand it on.
    drafts = "() => Object.keys(localStorage).filter((key) => key.startsWith('draft '))"
    phone.wait_for_function(f"{drafts}.length > 0")

    phone.get_by_role("link", name="Home").tap()
    phone.get_by_role("button", name="Continue").tap()
    expect(frame.get_by_text("What you had entered is back.")).to_be_visible()
    expect(frame.get_by_label("Describe the image in one sentence")).to_have_value(
        SENTENCE.format(1)
    )

    # Signing out deletes it wherever the person is, and not before they are sure.
    phone.get_by_role("link", name="Home").tap()
    phone.get_by_role("button", name="Sign out").tap()
    phone.get_by_text("You have no password").wait_for()
    assert phone.evaluate(drafts) != []
    phone.once("dialog", lambda dialog: dialog.accept())
    phone.get_by_role("main").get_by_role("button", name="Sign out").tap()
    phone.wait_for_url("**/sign-in*")
    assert phone.evaluate(drafts) == []
