"""Comparing two captions in the marketplace's frame, and marking their words: by keyboard, by touch
and without JavaScript."""

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from annotate.models import Campaign
from tests.accessibility import violations_in_both_schemes
from tests.browser.campaigns import accept, draft, expect_submitted, sources, start, stored
from tests.browser.conftest import DESKTOP, PHONE, keep_picture
from tests.factories import (
    SelectionFactory,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TEXTS = {
    "people": "A woman in an orange space suit stands in front of a flag and a model of a rocket.",
    "model": "a woman sitting in a chair holding a cell phone",
}


@pytest.fixture
def make(photograph, title):
    """Returns what publishes a campaign on two captions of a real photograph; text A is that of
    people."""

    def make(language: str = "en") -> Campaign:
        pairs = {"sources": sources(photograph, TEXTS), "marks": True, "pairs": "random"}
        campaign = draft(
            preset="iiw-side-by-side",
            selection=SelectionFactory(images=[photograph]).name,
            language=language,
            hit={"title": title},
            preference=pairs,
        )
        task = campaign.tasks.get()
        [pair] = task.payload["pairs"]
        if pair["sources"][0] != ["people"]:
            pair["sources"].reverse()
            pair["captions"].reverse()
            task.save()
        return start(campaign)

    return make


@pytest.fixture
def campaign(make) -> Campaign:
    return make()


def questions(frame: FrameLocator | Page):
    return frame.locator("[data-question]")


MARKS = {"2": {"wrong": [3, 10], "missing": "the rocket"}}


def expect_answer(*steps: int) -> None:
    names = ["comprehensiveness", "specificity", "hallucinations", "tldr", "human_likeness"]
    assert stored() == {"1": dict(zip(names, steps, strict=True)), "marks": MARKS}


def test_digits_answer_the_first_open_questions_wherever_the_focus_is(page, worker, campaign):
    frame = accept(page, worker, campaign)
    frame.locator("p.first").first.click()
    page.keyboard.press("4")
    frame.get_by_role("region", name="Text B").get_by_role("checkbox").first.focus()
    page.keyboard.press("2")
    frame.get_by_role("textbox").first.focus()
    page.keyboard.press("3")

    expect(questions(frame).nth(0).get_by_role("radio").nth(3)).to_be_checked()
    expect(questions(frame).nth(1).get_by_role("radio").nth(1)).to_be_checked()
    expect(questions(frame).nth(2).get_by_role("radio", checked=True)).to_have_count(0)


def test_the_task_is_done_by_keyboard_alone(page, worker, campaign):
    frame = accept(page, worker, campaign)
    words = frame.get_by_role("region", name="Text B").get_by_role("checkbox")

    words.first.focus()
    for key in (*["ArrowRight"] * 3, "ArrowLeft", "Space", *["ArrowRight"] * 7, "Space", "Tab"):
        page.keyboard.press(key)
    page.keyboard.type("the  rocket")
    page.keyboard.press("Tab")
    for key in "12345":
        page.keyboard.press(key)
    expect(frame.get_by_text("All questions are answered.")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_text("Your answers were submitted").first).to_be_visible()
    expect_answer(1, 2, 3, 4, 5)


def test_marks_survive_a_reload(page, worker, campaign):
    frame = accept(page, worker, campaign)
    text = frame.get_by_role("region", name="Text B")
    text.get_by_role("checkbox", name="phone").check()
    text.get_by_role("textbox").fill("the flag")

    page.reload()

    expect(text.get_by_role("textbox")).to_have_value("the flag")
    expect(text.get_by_role("checkbox", name="phone")).to_be_checked()
    expect(text.get_by_role("checkbox", name="woman")).not_to_be_checked()


def test_the_task_is_done_by_touch_and_without_javascript(browser: Browser, worker, campaign):
    context = browser.new_context(viewport=PHONE, has_touch=True, java_script_enabled=False)
    page = context.new_page()
    frame = accept(page, worker, campaign)
    text = frame.get_by_role("region", name="Text B")

    for name in ("sitting", "phone"):
        text.get_by_role("checkbox", name=name).tap()
    text.get_by_role("textbox").fill("the rocket")
    for question in questions(frame).all():
        question.get_by_role("radio", name="no difference").tap()
    frame.get_by_role("button", name="Submit").tap()
    frame.get_by_role("button", name="Submit to the marketplace").tap()

    expect(frame.get_by_text("Your answers were submitted")).to_be_visible()
    expect_answer(3, 3, 3, 3, 3)
    context.close()


def test_the_task_is_done_on_a_phone_with_the_photograph_in_sight(phone, worker, campaign):
    frame = accept(phone, worker, campaign)
    text = frame.get_by_role("region", name="Text B")

    for name in ("sitting", "phone"):
        text.get_by_role("checkbox", name=name).tap()
    text.get_by_role("textbox").fill("the rocket")
    for question in questions(frame).all():
        question.get_by_role("radio", name="no difference").tap()
        expect(frame.locator("[data-task-image]")).to_be_in_viewport()
    expect(frame.get_by_text("All questions are answered.")).to_be_visible()
    frame.get_by_role("button", name="Submit").tap()

    expect_submitted(phone)
    expect_answer(3, 3, 3, 3, 3)


def test_the_page_fits_a_phone_from_right_to_left(phone, worker, make):
    accept(phone, worker, make("ar"))
    phone.goto(phone.frames[1].url)

    assert phone.locator("html").get_attribute("dir") == "rtl"
    a, b = (phone.locator(f"[aria-labelledby^=text-{number}-]") for number in (1, 2))
    expect(a.locator("blockquote")).to_contain_text("orange")
    expect(b.locator("blockquote")).to_contain_text("cell")
    assert violations_in_both_schemes(phone) == []
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_page_is_accessible_and_fits(page, worker, campaign):
    accept(page, worker, campaign)
    page.goto(page.frames[1].url)
    page.get_by_text("How to compare the texts").click()
    text = page.get_by_role("region", name="Text B")
    for name in ("sitting", "phone"):
        text.get_by_role("checkbox", name=name).check()
    questions(page).first.get_by_role("radio").nth(1).check()

    for viewport in (DESKTOP, PHONE):
        page.set_viewport_size(viewport)
        assert violations_in_both_schemes(page) == [], viewport
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), viewport
        page.emulate_media(color_scheme="light")
        keep_picture(page, f"preference-{viewport['width']}")
