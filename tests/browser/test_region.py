"""Describing regions of a real photograph in the marketplace's frame: enlarging, keyboard, touch,
right to left, and the reviewer's page."""

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from annotate.models import Campaign, Caption
from hits.reconcile.reconciler import reconcile
from qualcontrol.services.intake import review_submitted
from tests.accessibility import violations_in_both_schemes
from tests.browser.campaigns import accept, draft, expect_submitted, start
from tests.browser.conftest import DESKTOP, PHONE, keep_picture
from tests.factories import (
    NOON,
    BoxFactory,
    ClassFactory,
    ResponseFactory,
    SelectionFactory,
    UserFactory,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TEXT = "A model of a space shuttle with its rockets stands beside a flag."


@pytest.fixture
def make(photograph, title):
    """Returns what publishes a campaign about the model rocket in a photograph."""
    rocket = {"x_min": 0.68, "x_max": 0.88, "y_min": 0.01, "y_max": 0.6}
    BoxFactory(image=photograph, object_class=ClassFactory(name="Rocket"), **rocket)
    selection = SelectionFactory(images=[photograph]).name

    def make(**values) -> Campaign:
        return start(draft(kind="region", selection=selection, hit={"title": title}, **values))

    return make


def share_seen(frame: FrameLocator | Page) -> float:
    """The share of the shown part of the image, in width or height, that the region takes."""
    return frame.locator("[data-viewer]").evaluate(
        """viewer => {
          const seen = viewer.querySelector("[data-scroller]").getBoundingClientRect();
          const region = viewer.querySelector("[data-region]").getBoundingClientRect();
          const isInside = region.left >= seen.left - 2 && region.right <= seen.right + 2
            && region.top >= seen.top - 2 && region.bottom <= seen.bottom + 2;
          return isInside * Math.max(region.width / seen.width, region.height / seen.height);
        }"""
    )


def test_the_region_is_enlarged_and_described_on_a_phone(phone, worker, make):
    frame = accept(phone, worker, make())
    enlarge = frame.get_by_role("button", name="Enlarge the part")
    assert 0.4 < share_seen(frame) < 0.6
    keep_picture(phone, "region-phone")

    enlarge.tap()
    assert 0.75 < share_seen(frame) < 0.9
    expect(enlarge).to_have_attribute("aria-pressed", "true")
    keep_picture(phone, "region-phone-enlarged")
    enlarge.tap()
    assert 0.4 < share_seen(frame) < 0.6
    assert frame.locator("html").evaluate("html => html.scrollWidth <= html.clientWidth")
    frame.get_by_label("Describe the marked part in one sentence").fill(TEXT)
    frame.get_by_role("button", name="Submit").tap()

    expect_submitted(phone)


def test_the_task_is_done_by_keyboard(page, worker, make):
    campaign = make()
    frame = accept(page, worker, campaign)
    keep_picture(page, "region-desktop")

    frame.get_by_role("button", name="Enlarge the part").focus()
    page.keyboard.press("Space")
    assert share_seen(frame) > 0.75
    frame.get_by_role("button", name="Larger").focus()
    page.keyboard.press("Enter")
    expect(frame.get_by_role("button", name="Enlarge the part")).to_have_attribute(
        "aria-pressed", "false"
    )
    frame.get_by_label("Describe the marked part in one sentence").focus()
    page.keyboard.type(TEXT)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect_submitted(page)
    reconcile(campaign)
    assert Caption.objects.get().text == TEXT


def test_a_pinch_leaves_the_enlarged_part(page, worker, make):
    frame = accept(page, worker, make())
    enlarge = frame.get_by_role("button", name="Enlarge the part")
    enlarge.click()

    frame.locator("[data-scroller]").hover()
    page.keyboard.down("Control")  # as a trackpad reports two fingers
    page.mouse.wheel(0, 200)
    page.keyboard.up("Control")

    expect(enlarge).to_have_attribute("aria-pressed", "false")
    enlarge.click()
    assert share_seen(frame) > 0.75


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_page_is_accessible(page, worker, make, language):
    accept(page, worker, make(language=language))
    address = page.frames[1].url
    for viewport in (DESKTOP, PHONE):
        page.set_viewport_size(viewport)
        page.goto(address)
        page.locator("[data-command=reveal]").click()

        assert share_seen(page) > 0.75
        assert violations_in_both_schemes(page) == [], viewport
        page.locator("summary").click()
        keep_picture(page, f"region-{language}-{viewport['width']}")


def test_the_region_is_lit_without_javascript(browser: Browser, worker, make):
    context = browser.new_context(viewport=DESKTOP, java_script_enabled=False)
    frame = accept(context.new_page(), worker, make())

    expect(frame.get_by_role("button", name="Enlarge the part")).to_be_hidden()
    assert frame.locator("[data-region]").bounding_box()["width"] > 40
    context.close()


def test_reviewers_see_the_region(page, site, sign_in, make):
    campaign = make()
    response = ResponseFactory(task=campaign.tasks.get(), text=TEXT)
    review_submitted(campaign=campaign, responses=[response], at=NOON)
    sign_in(UserFactory(is_staff=True, is_superuser=True))

    page.goto(f"{site}/review/campaign/")
    picture = page.get_by_role("img", name="The image; the part to describe is marked")
    expect(picture.first).to_be_visible()
    expect(page.get_by_text("Rocket").first).to_be_visible()
    keep_picture(page, "region-review")

    assert violations_in_both_schemes(page) == []
