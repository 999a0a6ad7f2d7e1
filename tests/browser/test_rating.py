"""Rating captions in the marketplace's frame: by mouse, by keyboard, by touch and without
JavaScript."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from annotate.kinds import KINDS
from annotate.kinds.reading import parse_config
from annotate.models import Answer, Campaign
from annotate.services.campaigns import create_campaign
from hits.models import TaskPage
from hits.reconcile.reconciler import reconcile
from tests.accessibility import violations_in_both_schemes
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.test_workers_day import accept, open_group
from tests.factories import (
    NOON,
    CaptionSetFactory,
    GivenCaptionFactory,
    ImageFactory,
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
def campaign(site, shared_data, settings, title) -> Campaign:
    """A published campaign on three captions of a real photograph, in the order of SENTENCES."""
    folder = settings.MEDIA_ROOT / "images"
    folder.mkdir(parents=True)
    (folder / "astronaut.png").write_bytes((shared_data / "images/astronaut.png").read_bytes())
    image = ImageFactory(file="images/astronaut.png", width=512, height=512, author="NASA")
    for name, text in SENTENCES.items():
        GivenCaptionFactory(caption_set=CaptionSetFactory(name=name), image=image, text=text)
    values = {
        "name": "ratings",
        "kind": "rating",
        "selection": SelectionFactory(images=[image]).name,
        "budget": "50.00",
        "hit": {"title": title},
        "rating": {"sources": [{"name": name, "caption_set": name} for name in SENTENCES]},
    }
    campaign = create_campaign(config=parse_config(values), endpoint="local", at=NOON)
    task = campaign.tasks.get()
    task.payload["captions"].sort(key=lambda caption: list(caption["sources"]), reverse=True)
    task.save()
    Campaign.objects.update(status="RUNNING")
    campaign.refresh_from_db()
    reconcile(campaign)
    return campaign


@pytest.fixture
def worker(marketplace):
    return marketplace.fresh_workers(1)[0]


def expect_submitted(page: Page) -> None:
    expect(page.get_by_text("Your answers were submitted").first).to_be_visible()


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


def stored() -> dict[str, dict[str, int]]:
    """The answer: what the marketplace reported, or before that what the open page has stored."""
    if reported := Answer.objects.first():
        return reported.content
    page = TaskPage.objects.get()
    return KINDS["rating"].read(page.claims.get().task, page.fields)


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
    for key in "5x4521222":
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

    expect(frame.get_by_text("Please answer all three questions about sentence 2.")).to_be_visible()
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


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE, SMALLEST_PHONE])
def test_the_page_is_accessible(browser: Browser, worker, campaign, viewport):
    context = browser.new_context(viewport=viewport)
    page = context.new_page()
    preview = open_group(page, worker, campaign)
    expect(preview.get_by_role("button", name="Submit")).to_be_disabled()
    page.get_by_role("button", name="Accept").first.click()
    page.wait_for_url("**/assignments/*")
    page.goto(page.frames[1].url)
    page.get_by_text("How to rate the sentences").click()
    for text in ("true of", "important"):
        question(page, 2, text).get_by_role("radio").nth(1).check()

    found = violations_in_both_schemes(page)

    assert found == []
    assert page.get_by_role("img", name="The image that the sentences are about").is_visible()
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"rating-{viewport['width']}.png")
    context.close()
