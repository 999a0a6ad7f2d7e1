"""Campaigns in other languages: the task page from preview to submission, and its word counter."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from annotate.kinds import KINDS
from annotate.models import Response
from corpora.language.text import normalise
from corpora.language.tokens import written
from hits.reconcile.reconciler import reconcile
from tests.browser.conftest import PHONE
from tests.hits.conftest import make_campaign
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
    campaign = make_campaign(tasks=1, language=tag, hit={"title": title})
    reconcile(campaign)
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
