"""A worker practises in the marketplace's frame, and reads what was wrong with an answer."""

import pytest
from playwright.sync_api import expect

from annotate.models import Response
from hits.models import TOLD_AFTER, Assignment, WorkerMessage
from hits.reconcile.reconciler import reconcile
from qualcontrol.review.judging import judge
from tests.browser.campaigns import accept
from tests.browser.conftest import PHONE
from tests.factories import NOON, ImageFactory, UserFactory, make_campaign

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ENGLISH = {
    "captions": ["A cat with green eyes looks straight at the camera.", "Cat."],
    "whys": ["It names what matters.", "It leaves out everything."],
    "yes": "Yes",
    "check": "Check",
    "next": "Next",
    "right": "1 of 2 answers are right.",
    "start": "Start with the first task",
    "label": "Describe the image in one sentence",
    "send": "Submit",
    "text": "A cat with green eyes looks straight at the camera today.",
}
ARABIC = {
    "captions": ["قطة بعينين خضراوين تنظر مباشرة إلى الكاميرا.", "قطة."],
    "whys": ["يذكر المهم.", "يترك كل شيء."],
    "yes": "نعم",
    "check": "تحقّق",
    "next": "التالي",
    "right": "الإجابات الصحيحة: 1 من 2.",
    "start": "ابدأ المهمة الأولى",
    "label": "صف الصورة في جملة واحدة",
    "send": "إرسال",
    "text": "قطة رمادية بعينين خضراوين واسعتين تنظر مباشرة إلى الكاميرا اليوم.",
}


@pytest.fixture
def make(site, picture, title):
    """A published campaign with a practice on a real photograph."""

    def make_one(texts, language, **values):
        image = ImageFactory(**picture("chelsea.png"))
        captions = [
            {"image": image.key, "text": text, "good": good, "why": why}
            for text, why, good in zip(texts["captions"], texts["whys"], [True, False], strict=True)
        ]
        campaign = make_campaign(
            tasks=1,
            language=language,
            hit={"title": title},
            practice={"captions": captions, "pass_mark": 0.5, **values},
            review={"share": 0, "first": 0, "approve_after_hours": 0, "tells_workers": True},
        )
        campaign.practice_images.add(image)
        reconcile(campaign)
        return campaign

    return make_one


@pytest.mark.parametrize("has_scripts", [True, False])
@pytest.mark.parametrize(("language", "texts"), [("en", ENGLISH), ("ar", ARABIC)])
def test_a_worker_practises_and_does_the_first_task(
    browser, marketplace, make, language, texts, has_scripts
):
    campaign = make(texts, language)
    [worker] = marketplace.fresh_workers(1)
    page = browser.new_page(java_script_enabled=has_scripts, viewport=PHONE)
    frame = accept(page, worker, campaign)
    for number, why in enumerate(texts["whys"]):
        expect(frame.get_by_text(texts["captions"][number])).to_be_visible()
        frame.get_by_label(texts["yes"]).check()
        frame.get_by_role("button", name=texts["check"]).click()
        expect(frame.get_by_text(why)).to_be_visible()
        if number == 0:
            frame.get_by_role("button", name=texts["next"]).click()
    expect(frame.get_by_text(texts["right"])).to_be_visible()

    frame.get_by_role("button", name=texts["start"]).click()
    frame.get_by_label(texts["label"]).fill(texts["text"])
    frame.get_by_role("button", name=texts["send"]).click()
    if not has_scripts:
        frame.locator("form[data-forward] button").click()
    expect((page if has_scripts else frame).get_by_text("submitted").first).to_be_visible()
    reconcile(campaign)

    assert Assignment.objects.get().practice == "10"
    assert Response.objects.get().caption.text == texts["text"]


def test_a_reload_continues_where_the_worker_was(page, marketplace, make):
    campaign = make(ENGLISH, "en")
    [worker] = marketplace.fresh_workers(1)
    frame = accept(page, worker, campaign)
    frame.get_by_label("Yes").check()
    page.reload()
    expect(frame.get_by_label("Yes")).to_be_checked()

    frame.get_by_role("button", name="Check").click()
    frame.get_by_role("button", name="Next").click()
    expect(frame.get_by_text("Practice: 2 of 2")).to_be_visible()
    page.reload()
    expect(frame.get_by_text("Practice: 2 of 2")).to_be_visible()
    frame.get_by_label("Yes").check()
    frame.get_by_role("button", name="Check").click()
    expect(frame.get_by_text("1 of 2 answers are right.")).to_be_visible()

    frame.get_by_role("button", name="Start with the first task").click()
    caption = frame.get_by_label("Describe the image in one sentence")
    caption.fill(ENGLISH["text"])
    page.wait_for_function(
        "text => Object.values(localStorage).some((kept) => kept.includes(text))",
        arg=ENGLISH["text"],
    )
    page.reload()
    expect(caption).to_have_value(ENGLISH["text"])
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("submitted").first).to_be_visible()
    reconcile(campaign)
    assert Assignment.objects.get().practice == "10"


def test_a_reload_submits_no_paid_practice(page, marketplace, make):
    campaign = make(ENGLISH, "en", paid=True)
    [worker] = marketplace.fresh_workers(1)
    frame = accept(page, worker, campaign)
    for name in ["Check", "Next", "Check"]:
        if name == "Check":
            frame.get_by_label("Yes").check()
        frame.get_by_role("button", name=name).click()
    expect(frame.get_by_role("button", name="Submit the practice")).to_be_visible()

    page.reload()
    expect(frame.get_by_text("Practice: 2 of 2")).to_be_visible()
    expect(frame.get_by_label("Yes")).to_be_checked()
    frame.get_by_role("button", name="Check").click()
    frame.get_by_role("button", name="Submit the practice").click()
    expect(page.get_by_text("submitted").first).to_be_visible()


def test_a_worker_follows_the_message_to_what_was_wrong(page, marketplace, make):
    campaign = make(ENGLISH, "en")
    [worker] = marketplace.fresh_workers(1)
    frame = accept(page, worker, campaign)
    for name in ["Check", "Next", "Check", "Start with the first task"]:
        if name == "Check":
            frame.get_by_label("Yes").check()
        frame.get_by_role("button", name=name).click()
    frame.get_by_label("Describe the image in one sentence").fill(ENGLISH["text"])
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("submitted").first).to_be_visible()
    reconcile(campaign)
    judge(
        response=Response.objects.get(),
        verdict="BAD",
        reason="describes another image",
        reviewer=UserFactory(),
        at=NOON - TOLD_AFTER,
    )
    reconcile(campaign)
    assert WorkerMessage.objects.exists()

    page.goto(f"{marketplace.url}/messages")
    page.get_by_role("link", name="told").click()

    expect(page.get_by_text("describes another image")).to_be_visible()
    expect(page.get_by_text(ENGLISH["text"])).to_be_visible()
