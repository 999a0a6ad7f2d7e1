"""A worker does HITs in a browser: by mouse and keyboard, on a phone, without JavaScript."""

import time

import pytest
from playwright.sync_api import Browser, expect

from annotate.models import Image, Response, ResponseStatus
from hits.models import Assignment, AssignmentStatus, Claim
from hits.reconcile.reconciler import reconcile
from tests.accessibility import RULES, violations
from tests.browser.campaigns import accept, open_group
from tests.browser.conftest import PHONE
from tests.factories import BoxFactory, ClassFactory, make_campaign
from tests.hits.framed_work import published

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SENTENCE = "A brown dog jumps over a low wooden fence in a garden."


@pytest.fixture
def campaign(site, picture, title):
    """A published campaign on a real photograph."""
    campaign = make_campaign(tasks=2, hit={"title": title})
    images = Image.objects.filter(tasks__campaign=campaign)
    images.update(**picture("chelsea.png"), author="Stéfan van der Walt")
    for task in campaign.tasks.select_related("image"):
        BoxFactory(image=task.image, object_class=ClassFactory(name=f"Cat {task.number}"))
    reconcile(campaign)
    return campaign


def test_a_workers_day(page, worker, campaign):
    preview = open_group(page, worker, campaign)
    expect(preview.get_by_text("This is a preview")).to_be_visible()
    expect(preview.get_by_role("button", name="Submit")).to_be_disabled()
    assert not Claim.objects.exists()

    page.get_by_role("button", name="Accept").first.click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("img", name="The image to describe")).to_be_visible()
    expect(frame.get_by_text("You do not have to use these words")).to_be_visible()
    frame.get_by_label("Describe the image in one sentence").fill("A dog.")
    expect(frame.get_by_text("Words: 2; write at least 8.")).to_be_visible()
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_text("Please write at least 8 words")).to_be_visible()
    frame.get_by_label("Describe the image in one sentence").fill(SENTENCE)
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("Your answers were submitted").first).to_be_visible()

    page.get_by_role("button", name="Accept the next HIT").click()
    expect(frame.get_by_label("Describe the image in one sentence")).to_have_value("")
    page.get_by_role("button", name="Return this HIT").click()
    expect(page.get_by_text("HIT returned")).to_be_visible()

    reconcile(campaign)
    page.get_by_role("link", name="Earnings").click()
    expect(page.get_by_text("$0.10").first).to_be_visible()
    assert Response.objects.get(status=ResponseStatus.SUBMITTED).caption.text == SENTENCE
    assert Assignment.objects.filter(status=AssignmentStatus.APPROVED).count() == 1
    assert not Claim.objects.filter(page__answered_at__isnull=False).exists()


def test_the_task_is_done_by_keyboard_alone_on_a_phone(browser: Browser, worker, campaign):
    context = browser.new_context(viewport=PHONE, has_touch=True)
    page = context.new_page()
    frame = accept(page, worker, campaign)
    field = frame.get_by_label("Describe the image in one sentence")

    field.focus()
    page.keyboard.type(SENTENCE)
    page.keyboard.press("Tab")
    expect(frame.get_by_role("button", name="Submit")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.get_by_text("Your answers were submitted").first).to_be_visible()
    width = page.locator("html").evaluate("root => root.scrollWidth")
    assert width <= PHONE["width"]
    context.close()


def test_the_task_is_done_without_javascript(browser: Browser, worker, campaign):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    frame = accept(page, worker, campaign)

    frame.get_by_label("Describe the image in one sentence").fill("A dog.")
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_text("Please write at least 8 words")).to_be_visible()
    frame.get_by_label("Describe the image in one sentence").fill(SENTENCE)
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_role("button", name="Submit to the marketplace").click()

    expect(frame.get_by_text("Your answers were submitted")).to_be_visible()
    reconcile(campaign)
    assert Response.objects.get().caption.text == SENTENCE
    context.close()


def test_an_answer_goes_to_the_marketplace_when_our_server_fails(page, worker, campaign):
    frame = accept(page, worker, campaign)
    frame.get_by_label("Describe the image in one sentence").fill(SENTENCE)
    page.route("**/task/**", lambda route: route.abort())

    frame.get_by_role("button", name="Submit").click()

    expect(page.get_by_text("Your answers were submitted").first).to_be_visible()
    reconcile(campaign)
    assert Response.objects.get(status=ResponseStatus.SUBMITTED).caption.text == SENTENCE


def test_the_page_counts_how_the_answer_is_made_and_tells_our_server_alone(page, worker, campaign):
    began = time.monotonic()
    frame = accept(page, worker, campaign)
    field = frame.get_by_label("Describe the image in one sentence")
    posts = []
    page.on("request", lambda request: posts.append(request.post_data or ""))

    field.press_sequentially("A cat looks up.")
    field.press("Control+A")
    field.press("Control+X")
    field.press("Control+V")
    field.press("Control+V")
    page.locator("h1").first.click()  # outside of the frame, which so loses the focus
    field.fill(SENTENCE)
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("Your answers were submitted").first).to_be_visible()

    reconcile(campaign)
    behaviour = Response.objects.get().behaviour
    # Filling in is one insertion. It leaves the "A ", and the full stop, as they were typed.
    assert behaviour.characters == {"inserted": len(SENTENCE) - 3, "typed": 3}
    assert behaviour.times_left == 1
    assert 0 < behaviour.seconds_writing <= time.monotonic() - began
    assert behaviour.device == "COMPUTER"
    assert not any("behaviour" in post for post in posts if "assignmentId" in post)


def test_axe_finds_nothing_wrong_with_the_task_page_in_its_frame(page, worker, campaign):
    accept(page, worker, campaign).get_by_role("button", name="Submit").wait_for()

    assert len(page.frames) == 2
    for scheme, rules in RULES.items():
        page.emulate_media(color_scheme=scheme)
        for frame in page.frames:
            assert violations(frame, rules) == [], scheme


def test_after_the_last_hit_no_other_is_offered(page, worker, site, title):
    campaign = published(tasks=1, hit={"title": title})
    frame = accept(page, worker, campaign)

    frame.get_by_label("Describe the image in one sentence").fill(SENTENCE)
    frame.get_by_role("button", name="Submit").click()

    expect(page.get_by_text("This was the last HIT of this group")).to_be_visible()
    expect(page.get_by_role("button", name="Accept the next HIT")).to_be_hidden()
