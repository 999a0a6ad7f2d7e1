"""Linking words to boxes in a browser: mouse, keyboard, touch, and without JavaScript."""

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from annotate.kinds import KINDS
from annotate.models import Campaign, Correspondence, Image
from corpora.language.tokens import tokens
from hits.models import TaskPage
from hits.reconcile.reconciler import reconcile
from hits.services.messages import told_url
from qualcontrol.review.judging import judge
from qualcontrol.services.exclusions import exclude_worker
from qualcontrol.services.intake import review_submitted
from tests.accessibility import violations
from tests.browser.campaigns import accept, expect_submitted, open_group
from tests.browser.conftest import DESKTOP, PHONE, keep_picture
from tests.factories import (
    NOON,
    BoxFactory,
    ClassFactory,
    GivenCaptionFactory,
    LinkCampaignFactory,
    LinkResponseFactory,
    LinkTaskFactory,
    UserFactory,
    WorkerAccountFactory,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CAPTION = "A woman in a space suit stands before flags and a rocket."
# In the order of their numbers: class, x_min, x_max, y_min, y_max.
BOXES = [
    ("Flag", 0.0, 0.3, 0.0, 1.0),
    ("Flag", 0.26, 0.4, 0.68, 0.82),
    ("Rocket", 0.66, 0.86, 0.02, 0.64),
    ("Suit", 0.1, 0.8, 0.4, 1.0),
    ("Woman", 0.0, 1.0, 0.0, 1.0),
]
# The words that the caption's boxes suggest, with the numbers of their boxes or their kind.
ANSWER = {"woman": [5], "suit": [4], "flags": [1, 2], "rocket": "not-boxed"}
SMALLEST_PHONE = {"width": 320, "height": 640}
LYING_PHONE = {"width": 844, "height": 390}


@pytest.fixture
def image(photograph) -> Image:
    """A real photograph with a box that covers all of it and others that overlap."""
    classes = {name: ClassFactory(name=name) for name in ["Flag", "Rocket", "Suit", "Woman"]}
    for name, x_min, x_max, y_min, y_max in BOXES:
        edges = {"x_min": x_min, "x_max": x_max, "y_min": y_min, "y_max": y_max}
        BoxFactory(image=photograph, object_class=classes[name], **edges)
    return photograph


def publish(image: Image, captions: list[str], **hit: object) -> Campaign:
    """A running campaign on captions of one image, with slots at the marketplace."""
    campaign = LinkCampaignFactory(config={"hit": hit})
    for text in captions:
        caption = GivenCaptionFactory(caption_set=campaign.caption_set, image=image, text=text)
        LinkTaskFactory(campaign=campaign, subject=caption)
    reconcile(campaign)
    return campaign


@pytest.fixture
def campaign(site, image, title) -> Campaign:
    """A published campaign on one caption."""
    return publish(image, [CAPTION], title=title)


def word(frame: FrameLocator | Locator | Page, text: str) -> Locator:
    sentence = frame.get_by_role("toolbar", name="words of the caption")
    return sentence.get_by_role("button", name=re.compile(rf"^{text}\b"))


def box(frame: FrameLocator | Locator | Page, number: int) -> Locator:
    return frame.get_by_role("list", name="Boxes").get_by_role("button").nth(number - 1)


def at(frame: FrameLocator, x: float, y: float) -> dict[str, float]:
    """The position at these fractions of the image's width and height."""
    shown = frame.locator("[data-frame] > svg").bounding_box()
    return {"x": x * shown["width"], "y": y * shown["height"]}


def box_keys(image: Image) -> list[int]:
    """Keys of the image's boxes in the order of their numbers."""
    return list(image.boxes.order_by("pk").values_list("pk", flat=True))


def stored_words() -> list[dict[str, Any]]:
    """The answer to each task, in order: as reported by the marketplace, else as stored by the
    page."""
    if reported := list(Correspondence.objects.order_by("response__task__number")):
        return [row.words for row in reported]
    page = TaskPage.objects.get()
    tasks = [claim.task for claim in page.claims.order_by("task__number")]
    return [KINDS["correspondence"].read(task, page.fields) for task in tasks]


def stored_answer(image: Image) -> dict[str, list[int] | str]:
    """The links in the only answer, with box numbers."""
    numbers = {key: number for number, key in enumerate(box_keys(image), start=1)}
    found = {}
    [words] = stored_words()
    for place, said in words.items():
        text = tokens(CAPTION)[int(place)].text
        found[text] = said if isinstance(said, str) else sorted(numbers[key] for key in said)
    return found


def test_the_task_is_done_by_mouse(page, worker, campaign, image):
    frame = accept(page, worker, campaign)
    picture = frame.locator("[data-frame] > svg")

    word(frame, "woman").click()
    expect(frame.get_by_text("Which boxes show “woman”?")).to_be_visible()
    picture.click(position=at(frame, 0.9, 0.9))
    word(frame, "suit").click()
    box(frame, 4).click()
    word(frame, "suit").click()
    expect(frame.get_by_text("Choose a word or a box.")).to_be_visible()
    picture.click(position=at(frame, 0.2, 0.2))
    expect(frame.get_by_text("Which words name box 1, Flag?")).to_be_visible()
    word(frame, "flags").click()
    frame.get_by_role("button", name="Undo").click()
    frame.get_by_role("button", name="Redo").click()
    box(frame, 1).click()
    word(frame, "flags").click()
    box(frame, 2).click()
    expect(frame.get_by_text("3 of 4 words", exact=True)).to_be_visible()
    frame.get_by_role("button", name="Submit").click()
    expect(
        frame.get_by_text("Please choose a box for “rocket”, or say why no box fits.")
    ).to_be_visible()
    frame.get_by_role("button", name="Visible, but not in a box").click()
    frame.get_by_role("button", name="Submit").click()

    expect_submitted(page)
    assert stored_answer(image) == ANSWER


def test_no_digit_is_lost_with_more_than_nine_boxes(page, worker, image, site, title):
    for number in range(6, 13):
        edge = {"x_min": 0.05 * number, "x_max": 0.05 * number + 0.1, "y_min": 0.1, "y_max": 0.2}
        BoxFactory(image=image, object_class=ClassFactory(name=f"Star {number}"), **edge)
    campaign = publish(image, [CAPTION], title=title)
    frame = accept(page, worker, campaign)

    word(frame, "woman").focus()
    page.keyboard.press("Enter")
    for key in "15":  # there is no box 15
        page.keyboard.press(key)
    expect(word(frame, "woman")).to_have_accessible_name(re.compile(r"\(box 1, [^)]* and box 5, "))
    page.keyboard.press("t")
    page.keyboard.press("1")
    expect(frame.get_by_text("Box 1: Enter, or another digit", exact=True)).to_be_visible()
    page.keyboard.press("2")
    expect(word(frame, "suit")).to_have_accessible_name(re.compile(r"\(box 12, "))
    page.keyboard.press("t")
    page.keyboard.press("1")
    page.keyboard.press("t")  # instead of Enter
    expect(word(frame, "flags")).to_have_accessible_name(re.compile(r"\(box 1, "))
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    for _ in range(2):  # held: the second would take it back
        page.keyboard.down("s")
    page.keyboard.up("s")

    expect(word(frame, "rocket")).to_have_accessible_name("rocket (The scene as a whole)")


def test_the_task_is_done_by_keyboard(page, worker, campaign, image):
    frame = accept(page, worker, campaign)
    word(frame, "woman").focus()

    page.keyboard.press("t")  # the first marked word
    page.keyboard.press("5")
    expect(frame.locator("[data-said]")).to_have_text("“woman”: box 5, Woman. 1 of 4 words.")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(word(frame, "suit")).to_be_focused()
    page.keyboard.press("4")
    page.keyboard.press("t")
    page.keyboard.press("1")
    for _ in range(7):  # past three kinds and three commands to the list of boxes
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(box(frame, 2)).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("3")
    page.keyboard.press("z")
    expect(word(frame, "flags")).to_have_accessible_name("flags (box 1, Flag and box 2, Flag)")
    page.keyboard.press("t")
    page.keyboard.press("v")
    frame.get_by_role("button", name="Submit").focus()
    page.keyboard.press("Enter")

    expect_submitted(page)
    assert stored_answer(image) == ANSWER


def test_the_tab_key_comes_back_to_what_was_clicked(page, worker, campaign):
    frame = accept(page, worker, campaign)

    for place in (word(frame, "flags"), box(frame, 3)):
        place.click()
        page.keyboard.press("Tab")
        expect(place).not_to_be_focused()
        page.keyboard.press("Shift+Tab")

        expect(place).to_be_focused()


def test_the_task_is_done_by_touch_on_the_smallest_phone(browser: Browser, worker, campaign, image):
    context = browser.new_context(viewport=SMALLEST_PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    frame = accept(page, worker, campaign)
    picture = frame.locator("[data-frame] > svg")

    word(frame, "rocket").tap()
    frame.get_by_role("button", name="Visible, but not in a box").tap()
    word(frame, "flags").tap()
    picture.tap(position=at(frame, 0.05, 0.5))
    box(frame, 2).tap()
    word(frame, "suit").tap()
    picture.tap(position=at(frame, 0.6, 0.7))
    word(frame, "woman").tap()
    picture.tap(position=at(frame, 0.75, 0.3))  # the rocket lies above her box
    picture.tap(position=at(frame, 0.75, 0.3))
    expect(word(frame, "woman")).to_have_accessible_name("woman (box 5, Woman)")
    width = frame.locator("html").evaluate("html => html.scrollWidth")
    frame.get_by_role("button", name="Submit").tap()

    expect_submitted(page)
    assert stored_answer(image) == ANSWER
    assert width <= SMALLEST_PHONE["width"]
    context.close()


def test_the_task_is_done_without_javascript(browser: Browser, worker, campaign, image):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    frame = accept(page, worker, campaign)

    frame.get_by_label("woman", exact=True).select_option("5 Woman")
    frame.get_by_label("suit", exact=True).select_option("4 Suit")
    frame.get_by_label("rocket", exact=True).select_option("visible, but not in a box")
    frame.get_by_label("flags", exact=True).select_option("1 Flag")
    frame.get_by_label("and flags also").select_option("2 Flag")
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_role("button", name="Submit to the marketplace").click()

    expect(frame.get_by_text("Your answers were submitted")).to_be_visible()
    assert stored_answer(image) == ANSWER
    context.close()


def test_an_answer_goes_to_the_marketplace_when_our_server_fails(page, worker, campaign, image):
    frame = accept(page, worker, campaign)
    for text, said in ANSWER.items():
        word(frame, text).click()
        for key in ["v"] if isinstance(said, str) else map(str, said):
            page.keyboard.press(key)
    page.route("**/task/**", lambda route: route.abort())

    frame.get_by_role("button", name="Submit").click()

    expect_submitted(page)
    assert not TaskPage.objects.filter(answered_at__isnull=False).exists()
    reconcile(campaign)
    assert stored_answer(image) == ANSWER


def test_the_page_opened_again_shows_what_was_linked(page, worker, campaign, image):
    accept(page, worker, campaign)
    # Without the frame, because a browser without cookies of third parties keeps nothing in it.
    address = page.locator("iframe").get_attribute("src")
    page.goto(address)
    page.route("**/mturk/externalSubmit", lambda route: route.abort())
    for text in ANSWER:
        word(page, text).click()
        box(page, 1).click()
        box(page, 3).click()
    with page.expect_request("**/mturk/externalSubmit"):
        page.get_by_role("button", name="Submit").click()

    page.goto(address)

    expect(word(page, "suit")).to_have_accessible_name("suit (box 1, Flag and box 3, Rocket)")
    assert stored_answer(image) == dict.fromkeys(ANSWER, [1, 3])


def test_two_captions_of_one_image_in_one_assignment_are_answered_apart(
    page, worker, site, image, title
):
    captions = ["A woman smiles.", "A rocket stands behind her."]
    campaign = publish(image, captions, title=title, images=2)
    frame = accept(page, worker, campaign)
    first, second = (frame.get_by_role("group", name=f"Image {n} of 2") for n in (1, 2))

    word(first, "woman").click()
    box(first, 5).click()
    expect(word(second, "rocket")).to_have_accessible_name("rocket (still to do)")
    frame.get_by_role("button", name="Submit").click()
    expect(second.get_by_text("Please choose a box")).to_be_visible()
    page.keyboard.press("3")
    frame.get_by_role("button", name="Submit").click()

    expect_submitted(page)
    said = [list(words.values()) for words in stored_words()]
    assert said == [[[box_keys(image)[4]]], [[box_keys(image)[2]]]]


def test_a_box_pointed_at_comes_forward_and_the_image_grows(page, worker, campaign):
    frame = accept(page, worker, campaign)
    picture = frame.locator("[data-frame] > svg")
    before = picture.bounding_box()["width"]

    picture.hover(position=at(frame, 0.33, 0.75))
    expect(frame.locator("[data-in-front]")).to_have_text("Box 2, Flag")
    box(frame, 5).focus()
    expect(frame.locator("[data-in-front]")).to_have_text("Box 5, Woman")
    frame.get_by_role("button", name="Larger").click()

    assert picture.bounding_box()["width"] == pytest.approx(1.5 * before, rel=0.01)


def test_two_fingers_enlarge_the_image_and_not_the_page(browser: Browser, worker, campaign):
    context = browser.new_context(viewport=SMALLEST_PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    accept(page, worker, campaign).get_by_role("button", name="Submit").wait_for()
    page.goto(page.frames[1].url)
    picture = page.locator("[data-frame] > svg")
    picture.scroll_into_view_if_needed()
    shown = picture.bounding_box()

    spread_fingers(page, shown["x"] + shown["width"] / 2, shown["y"] + shown["height"] / 2)

    assert picture.bounding_box()["width"] == pytest.approx(2 * shown["width"], rel=0.05)
    assert page.evaluate("visualViewport.scale") == 1
    context.close()


def spread_fingers(page: Page, x: float, y: float) -> None:
    """Put two fingers 40 pixels from a position, and move them to a distance of 80."""
    touch = page.context.new_cdp_session(page)
    for apart in range(40, 81, 4):
        points = [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        kind = "touchStart" if apart == 40 else "touchMove"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_the_preview_takes_no_answer(page, worker, campaign):
    frame = open_group(page, worker, campaign)

    expect(frame.get_by_text("This is a preview")).to_be_visible()
    expect(word(frame, "woman")).to_be_disabled()


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 900}, SMALLEST_PHONE])
def test_axe_finds_nothing_wrong(page, worker, campaign, viewport):
    accept(page, worker, campaign).get_by_role("button", name="Submit").wait_for()
    page.set_viewport_size(viewport)
    page.goto(page.frames[1].url)
    word(page, "flags").click()
    box(page, 1).click()
    page.get_by_role("button", name="Larger").click()

    assert violations(page, []) == []


def test_a_reviewer_sees_the_image_once_with_the_boxes_on_it(page, site, sign_in, image):
    campaign = LinkCampaignFactory(config={"review": {"first": 1}})
    caption = GivenCaptionFactory(caption_set=campaign.caption_set, image=image, text=CAPTION)
    task = LinkTaskFactory(campaign=campaign, subject=caption)
    response = LinkResponseFactory(task=task, words={"1": [image.boxes.last().pk]})
    review_submitted(campaign=campaign, responses=[response], at=response.submitted_at)
    sign_in(UserFactory())

    for viewport in (PHONE, LYING_PHONE, DESKTOP):
        page.set_viewport_size(viewport)
        page.goto(f"{site}/review/{campaign.slug}/")

        shown = page.locator("[data-review] img")
        expect(shown).to_have_count(1)
        shown.evaluate("(image) => image.decode()")
        for drawing in page.locator("[data-review] .linked svg").all():
            assert drawing.bounding_box() == pytest.approx(shown.bounding_box(), abs=1), viewport
        assert violations(page, []) == [], viewport


def test_the_outlines_lie_on_the_image_where_a_worker_reads_why_an_answer_is_not_used(
    page: Page, site: str, image: Image
):
    campaign = LinkCampaignFactory(config={"review": {"tells_workers": True}})
    given = GivenCaptionFactory(caption_set=campaign.caption_set, image=image, text=CAPTION)
    worker = WorkerAccountFactory().worker
    task = LinkTaskFactory(campaign=campaign, subject=given)
    woman = image.boxes.get(object_class__name="Woman")
    response = LinkResponseFactory(task=task, worker=worker, words={"1": [woman.pk]})
    judge(response=response, verdict="BAD", reason="vague", reviewer=UserFactory(), at=NOON)
    address = urlsplit(told_url(campaign, worker))
    page.set_viewport_size(PHONE)

    page.goto(f"{site}{address.path}?{address.query}")
    figure = page.locator(".told figure")
    expect(figure.locator("img")).to_be_visible()

    keep_picture(page, "told")
    boxes = [figure.locator(each).first.bounding_box() for each in ("img", "svg", "canvas")]
    assert boxes == [figure.bounding_box()] * 3
    assert figure.locator("path").first.evaluate("one => getComputedStyle(one).fill") == "none"
    sizes = [page.locator(name).bounding_box()["height"] for name in ("h1", "h2")]
    assert sizes[1] < sizes[0]


def test_a_phones_keyboard_does_not_disturb_an_appeal(page: Page, site: str):
    campaign = LinkCampaignFactory(config={"review": {"tells_workers": True}})
    worker = WorkerAccountFactory().worker
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)
    address = urlsplit(told_url(campaign, worker))
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_viewport_size(PHONE)
    page.goto(f"{site}{address.path}?{address.query}")

    page.get_by_role("textbox").focus()
    with page.expect_event("console"):
        page.evaluate("visualViewport.addEventListener('resize', () => console.log('resized'))")
        page.set_viewport_size({**PHONE, "height": 400})

    expect(page.locator("html")).not_to_have_class("typing")
    assert errors == []
