"""Campaigns in other languages: the task page from preview to submission, its word counter,
paragraphs on a phone, word–box links and ratings."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import FrameLocator, Page, expect

from annotate.kinds import KINDS
from annotate.models import ClassName, Image, ObjectClass, Response
from corpora.language.text import normalise
from corpora.language.tokens import tokens, written
from hits.reconcile.reconciler import reconcile
from tests.browser.campaigns import accept, draft, expect_submitted, sources, start, stored
from tests.browser.conftest import DESKTOP, PHONE, keep_picture
from tests.factories import (
    BoxFactory,
    ClassFactory,
    SelectionFactory,
)
from tests.hits.framed_work import published
from tests.sentences import sentences

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_page_counts_the_words_that_the_server_counts(page, site):
    texts = [text for _, text in sentences()]

    page.goto(f"{site}/accounts/login/")
    counts = page.evaluate(
        """async (texts) => {
            const { countWords } = await import("/static/hits/task.js");
            return texts.map(countWords);
        }""",
        texts,
    )

    expected = [len(written(normalise(text))) for text in texts]
    differing = [
        (text, here, there)
        for text, here, there in zip(texts, expected, counts, strict=True)
        if here != there
    ]
    assert len(texts) == 1008
    assert differing == []


@pytest.mark.parametrize(
    ("tag", "direction", "label", "refused", "caption"),
    [
        (
            "ja",
            "",
            "画像を一つの文で説明してください",
            "8 語以上で書いてください",
            "茶色い犬が庭の低い木の柵を跳び越えている。",
        ),
        (
            "ar",
            "rtl",
            "صف الصورة في جملة واحدة",
            "على الأقل",
            "كلب بني يقفز فوق سياج خشبي منخفض في الحديقة.",
        ),
    ],
    ids=["Japanese", "Arabic"],
)
def test_a_caption_in_another_language(
    context, marketplace, site, title, tag, direction, label, refused, caption
):
    campaign = published(tasks=1, language=tag, hit={"title": title})
    [worker] = marketplace.fresh_workers(1)
    page = context.new_page()
    page.set_viewport_size(PHONE)

    page.goto(worker.sign_in_url)
    page.get_by_role("link", name=title).click()
    page.get_by_role("button", name="Accept").first.click()
    page.wait_for_url("**/assignments/*")
    frame = page.frame_locator("iframe")
    field = frame.get_by_label(label)
    expect(frame.locator("html")).to_have_attribute("lang", tag)
    assert (frame.locator("html").get_attribute("dir") or "") == direction
    assert field.get_attribute("lang") == tag
    assert Axe().run(page).response["violations"] == []

    field.fill(caption[:4])
    frame.locator(".actions button").click()
    expect(frame.locator("[data-problems]")).to_contain_text(refused)
    field.fill(caption)
    frame.locator(".actions button").click()
    expect(page.get_by_text("Your answers were submitted").first).to_be_visible()
    reconcile(campaign)

    [response] = Response.objects.filter(task__campaign=campaign).select_related("caption")
    assert KINDS[campaign.kind].answer(response) == caption


IN_ENGLISH = {
    "label": "Describe the image in a paragraph",
    "own": {"intro": "Somebody paints from your words.", "rules": ["Name every colour."]},
    "shown": "Aim at about 60 words.",
    "count": "Words: 40 of about 60",
    "submit": "Submit",
}
IN_ARABIC = {
    "label": "صف الصورة في فقرة",
    "own": {},
    "shown": "ابدأ بالأهم.",
    "count": "عدد الكلمات: 40 من نحو 60",
    "submit": "إرسال",
}


@pytest.mark.parametrize(("language", "texts"), [("en", IN_ENGLISH), ("ar", IN_ARABIC)])
def test_a_paragraph_is_written_and_stored_whole(phone, site, marketplace, title, language, texts):
    campaign = published(
        tasks=1,
        language=language,
        hit={"title": title},
        captions={"style": "paragraph", "target_words": 60},
        instructions=texts["own"],
    )
    [worker] = marketplace.fresh_workers(1)
    frame = accept(phone, worker, campaign)
    field = frame.get_by_label(texts["label"])
    low = field.bounding_box()["height"]
    expect(frame.get_by_text(texts["shown"])).to_be_visible()
    for text in texts["own"].get("rules", []):
        expect(frame.get_by_text(text)).to_be_visible()
        expect(frame.get_by_text("Leave out details")).to_have_count(0)

    written = " ".join(f"word{number}" for number in range(20))
    field.fill(f"{written}.\n\n{written}.")

    expect(frame.get_by_text(texts["count"])).to_be_visible()
    assert field.bounding_box()["height"] > low
    frame.get_by_role("button", name=texts["submit"]).click()
    expect(phone.get_by_text("submitted").first).to_be_visible()
    reconcile(campaign)
    assert Response.objects.get().caption.text == f"{written}. {written}."


SENTENCE = "رائدة فضاء تقف أمام علم وصاروخ."
CAPTIONS = {"people": "宇宙飛行士が旗の前に立っている。", "model": "女性が笑っている"}


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
    sources(image, {"mine": SENTENCE})
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
    assert [token.text for token in tokens(SENTENCE)][4] == "علم"
    nothing = "not-visual"
    assert stored() == {"0": [woman], "1": nothing, "2": nothing, "4": [flag], "5": [rocket]}


def test_captions_are_rated_in_japanese(page, marketplace, image, title):
    campaign = draft(
        kind="rating",
        selection=SelectionFactory(images=[image]).name,
        language="ja",
        hit={"title": title},
        rating={"sources": sources(image, CAPTIONS)},
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
