"""Word–box links in Arabic and ratings in Japanese, from the task page to the stored answer."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import FrameLocator, Page, expect

from annotate.models import ClassName, Image, ObjectClass
from corpora.language.tokens import tokens
from tests.browser.campaigns import accept, draft, expect_submitted, sources, start, stored
from tests.browser.conftest import DESKTOP, PHONE, keep_picture
from tests.factories import (
    BoxFactory,
    ClassFactory,
    SelectionFactory,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ARABIC = "رائدة فضاء تقف أمام علم وصاروخ."
JAPANESE = {"people": "宇宙飛行士が旗の前に立っている。", "model": "女性が笑っている"}


@pytest.fixture
def image(photograph) -> Image:
    """A real photograph with boxes of three classes, of which two have Arabic names."""
    for place, name in enumerate(["Flag", "Rocket", "Woman"]):
        edges = {"x_min": place * 0.3, "x_max": place * 0.3 + 0.3, "y_min": 0.1, "y_max": 0.9}
        BoxFactory(image=photograph, object_class=ClassFactory(name=name), **edges)
    for english, arabic in {"Flag": "علم", "Rocket": "صاروخ"}.items():
        object_class = ObjectClass.objects.get(name=english)
        ClassName.objects.create(object_class=object_class, language="ar", name=arabic)
    return photograph


def expect_language(page: Page, frame: FrameLocator, tag: str, direction: str) -> None:
    html = frame.locator("html")
    expect(html).to_have_attribute("lang", tag)
    assert (html.get_attribute("dir") or "") == direction
    for size in (PHONE, DESKTOP):
        page.set_viewport_size(size)
        assert html.evaluate("html => html.scrollWidth <= html.clientWidth")
        assert Axe().run(page).response["violations"] == []
        keep_picture(page, f"{tag}-{size['width']}")


def test_words_are_linked_in_arabic(page, marketplace, image, title):
    sources(image, {"mine": ARABIC})
    values = {"caption_set": "mine", "language": "ar", "hit": {"title": title}}
    campaign = start(draft(preset="imageclef", **values))
    flag, rocket, woman = image.boxes.order_by("pk").values_list("pk", flat=True)
    frame = accept(page, marketplace.fresh_workers(1)[0], campaign)
    expect_language(page, frame, "ar", "rtl")
    words = frame.get_by_role("toolbar").get_by_role("button")
    boxes = frame.get_by_role("list", name="الإطارات").get_by_role("button")

    words.nth(0).click()
    expect(frame.get_by_text("أي الإطارات تُظهر «رائدة»؟")).to_be_visible()
    page.keyboard.press("3")
    expect(frame.locator("[data-said]")).to_have_text("«رائدة»: الإطار 3، Woman.")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    expect(frame.get_by_text("أي الإطارات تُظهر «فضاء تقف»؟")).to_be_visible()
    page.keyboard.press("n")
    words.nth(4).click()
    boxes.nth(0).click()
    page.keyboard.press("z")
    expect(frame.locator("[data-said]")).to_contain_text("تم التراجع.")
    page.keyboard.press("y")
    words.nth(5).click()
    boxes.filter(has_text="صاروخ").click()
    frame.locator(".actions button").click()

    expect_submitted(page)
    assert [token.text for token in tokens(ARABIC)][4] == "علم"
    nothing = "not-visual"
    assert stored() == {"0": [woman], "1": nothing, "2": nothing, "4": [flag], "5": [rocket]}


def test_captions_are_rated_in_japanese(page, marketplace, image, title):
    campaign = draft(
        kind="rating",
        selection=SelectionFactory(images=[image]).name,
        language="ja",
        hit={"title": title},
        rating={"sources": sources(image, JAPANESE)},
    )
    start(campaign)
    frame = accept(page, marketplace.fresh_workers(1)[0], campaign)
    expect_language(page, frame, "ja", "")
    expect(frame.get_by_text("女性が笑っている。", exact=True)).to_be_visible()

    frame.get_by_role("radio").first.focus()
    for key in "55544":
        page.keyboard.press(key)
    expect(frame.get_by_text("残りの質問は 1 問です。")).to_be_visible()
    page.keyboard.press("4")
    expect(frame.get_by_text("すべての質問に答えました。")).to_be_visible()
    frame.locator(".actions button").click()

    expect_submitted(page)
    assert stored() == {
        "1": {"true": 5, "complete": 5, "fluent": 5},
        "2": {"true": 4, "complete": 4, "fluent": 4},
    }
