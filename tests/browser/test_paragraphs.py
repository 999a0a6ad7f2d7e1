"""A campaign of paragraphs with texts of its own, on a phone, in two languages."""

import pytest
from playwright.sync_api import expect

from annotate.models import Response
from hits.reconcile.reconciler import reconcile
from tests.browser.campaigns import accept
from tests.hits.conftest import make_campaign

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ENGLISH = {
    "label": "Describe the image in a paragraph",
    "own": {"intro": "Somebody paints from your words.", "rules": ["Name every colour."]},
    "shown": "Aim at about 60 words.",
    "count": "Words: 40 of about 60",
    "submit": "Submit",
}
ARABIC = {
    "label": "صف الصورة في فقرة",
    "own": {},
    "shown": "ابدأ بالأهم.",
    "count": "عدد الكلمات: 40 من نحو 60",
    "submit": "إرسال",
}


@pytest.mark.parametrize(("language", "texts"), [("en", ENGLISH), ("ar", ARABIC)])
def test_a_paragraph_is_written_and_stored_whole(phone, site, marketplace, title, language, texts):
    campaign = make_campaign(
        tasks=1,
        language=language,
        hit={"title": title},
        captions={"style": "paragraph", "target_words": 60},
        instructions=texts["own"],
    )
    reconcile(campaign)
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
