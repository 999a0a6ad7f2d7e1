"""Rating captions in the marketplace's frame: by mouse, by keyboard, by touch and without
JavaScript."""

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from annotate.models import Campaign
from tests.accessibility import violations_in_both_schemes
from tests.browser.campaigns import (
    accept,
    draft,
    expect_submitted,
    open_group,
    sources,
    start,
    stored,
)
from tests.browser.conftest import DESKTOP, PHONE, keep_picture
from tests.factories import (
    SelectionFactory,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SENTENCES = {
    "people": "A woman in an orange space suit stands in front of a flag and a model of a rocket.",
    "model-a": "a woman sitting in a chair holding a cell phone",
    "model-b": "a woman a woman in front front of flag",
}
SMALLEST_PHONE = {"width": 320, "height": 640}


@pytest.fixture
def campaign(photograph, title) -> Campaign:
    """A published campaign on three captions of a real photograph, in the order of SENTENCES."""
    campaign = draft(
        kind="rating",
        selection=SelectionFactory(images=[photograph]).name,
        hit={"title": title},
        rating={"sources": sources(photograph, SENTENCES)},
    )
    task = campaign.tasks.get()
    task.payload["captions"].sort(key=lambda caption: list(caption["sources"]), reverse=True)
    task.save()
    return start(campaign)


def question(frame: FrameLocator | Page, sentence: int, text: str) -> Locator:
    section = frame.get_by_role("region", name=f"Sentence {sentence} of 3")
    return section.get_by_role("group", name=text)


LABELS = {"true of": "4 mostly true", "important": "4 most", "fluent": "4 good"}


def rate_all(frame: FrameLocator, how: str) -> None:
    """Choose the fourth point of every scale, by `check` or `tap`."""
    for sentence in (1, 2, 3):
        for text, label in LABELS.items():
            option = question(frame, sentence, text).get_by_role("radio", name=label)
            getattr(option, how)()


EVERY_FOUR = {str(n): {"true": 4, "complete": 4, "fluent": 4} for n in (1, 2, 3)}


def test_the_task_is_done_by_mouse(page, worker, campaign):
    frame = accept(page, worker, campaign)
    expect(frame.get_by_text("9 questions are left.")).to_be_visible()

    rate_all(frame, "check")
    expect(frame.get_by_text("All questions are answered.")).to_be_visible()
    frame.get_by_role("button", name="Submit").click()

    expect_submitted(page)
    assert stored() == EVERY_FOUR


def test_the_task_is_done_by_keyboard(page, worker, campaign):
    frame = accept(page, worker, campaign)

    question(frame, 1, "Is it true of the image?").get_by_role("radio").first.focus()
    for _ in range(3):
        page.keyboard.down("5")  # held: only the first rates
    page.keyboard.up("5")
    for key in "x4521222":
        page.keyboard.press(key)
    expect(frame.get_by_text("1 question is left.")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect_submitted(page)
    assert stored()["1"] == {"true": 5, "complete": 4, "fluent": 5}
    assert stored()["2"] == {"true": 2, "complete": 1, "fluent": 2}
    assert stored()["3"]["fluent"] in (2, 3)


def test_a_question_without_an_answer_is_named(page, worker, campaign):
    frame = accept(page, worker, campaign)
    frame.locator("form[data-task]").evaluate("form => form.noValidate = true")
    for sentence in (1, 3):
        for text in LABELS:
            question(frame, sentence, text).get_by_role("radio").nth(3).check()

    frame.get_by_role("button", name="Submit").click()

    expect(frame.get_by_text("Please answer all questions about sentence 2.")).to_be_visible()
    expect(question(frame, 1, "true of").get_by_role("radio").nth(3)).to_be_checked()


def test_the_task_is_done_by_touch_on_the_smallest_phone(browser: Browser, worker, campaign):
    context = browser.new_context(viewport=SMALLEST_PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    frame = accept(page, worker, campaign)

    rate_all(frame, "tap")
    assert frame.locator("html").evaluate("html => html.scrollWidth <= html.clientWidth")
    frame.get_by_role("button", name="Submit").tap()

    expect_submitted(page)
    assert stored() == EVERY_FOUR
    context.close()


def test_the_task_is_done_without_javascript(browser: Browser, worker, campaign):
    context = browser.new_context(viewport=DESKTOP, java_script_enabled=False)
    page = context.new_page()
    frame = accept(page, worker, campaign)
    expect(frame.get_by_text("questions are left")).to_have_count(0)

    rate_all(frame, "check")
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_role("button", name="Submit to the marketplace").click()

    expect(frame.get_by_text("Your answers were submitted")).to_be_visible()
    assert stored() == EVERY_FOUR
    context.close()


def test_the_page_is_accessible(page, worker, campaign):
    preview = open_group(page, worker, campaign)
    expect(preview.get_by_role("button", name="Submit")).to_be_disabled()
    page.get_by_role("button", name="Accept").first.click()
    page.wait_for_url("**/assignments/*")
    page.goto(page.frames[1].url)
    page.get_by_text("How to rate the sentences").click()
    for text in ("true of", "important"):
        question(page, 2, text).get_by_role("radio").nth(1).check()

    for viewport in (DESKTOP, PHONE, SMALLEST_PHONE):
        page.set_viewport_size(viewport)
        assert violations_in_both_schemes(page) == [], viewport
        assert page.get_by_role("img", name="The image that the sentences are about").is_visible()
        keep_picture(page, f"rating-{viewport['width']}")
