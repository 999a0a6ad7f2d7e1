"""Texts in rounds in the marketplace's frame, on a computer and on a phone, with and without
JavaScript."""

import pytest
from playwright.sync_api import expect

from annotate.models import Campaign, Response
from hits.reconcile.reconciler import reconcile
from tests.accessibility import violations_in_both_schemes
from tests.browser.campaigns import accept, draft, sources, start
from tests.browser.conftest import keep_picture
from tests.factories import (
    SelectionFactory,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DRAFT = "A woman stands in front of a flag. She is holding a cell phone."
FIRST = (
    "A smiling woman in an orange space suit stands in front of a flag. A model of a space "
    "shuttle is behind her."
)
LABELS = {
    "en": ("Correct and complete the text", "What the worker before you changed", "Submit"),
    "ar": ("صحّح النص وأكمله", "ما غيّره من سبقك", "إرسال"),
}


@pytest.fixture
def make(photograph, title):

    def made(language="en") -> Campaign:
        sources(photograph, {"model": DRAFT})
        campaign = draft(
            kind="refine",
            language=language,
            selection=SelectionFactory(images=[photograph]).name,
            hit={"title": title},
            captions={"least_words": 5},
            refine={"draft_set": "model", "rounds": 3},
        )
        return start(campaign)

    return made


@pytest.mark.parametrize("language", LABELS)
def test_two_workers_edit_one_text(phone, page, marketplace, make, language):
    campaign = make(language)
    label, changes, submit = LABELS[language]
    first, second = marketplace.fresh_workers(2)
    frame = accept(page, first, campaign)
    field = frame.get_by_label(label)
    expect(field).to_have_value(DRAFT)
    field.fill(FIRST)
    keep_picture(page, f"rounds-first-{language}")
    frame.get_by_role("button", name=submit).click()
    expect(page.get_by_text("submitted").first).to_be_visible()
    reconcile(campaign)

    frame = accept(phone, second, campaign)
    expect(frame.get_by_label(label)).to_have_value(FIRST)
    frame.get_by_text(changes).click()
    expect(frame.locator("ins").first).to_be_visible()
    expect(frame.locator("del").first).to_be_visible()
    keep_picture(phone, f"rounds-second-{language}")
    assert violations_in_both_schemes(phone) == []
    frame.get_by_label(label).press("End")
    frame.get_by_label(label).type(" She wears gloves.")
    frame.get_by_role("button", name=submit).click()
    expect(phone.get_by_text("submitted").first).to_be_visible()
    reconcile(campaign)

    one, other = Response.objects.order_by("round")
    assert other.builds_on == one
    assert other.answer.content["words"]["removed"] <= 1
