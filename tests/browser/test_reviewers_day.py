"""A reviewer in a browser: sign in, judge by keyboard and mouse, exclude a careless worker."""

import re
from statistics import median

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Locator, Page, expect

from annotate.kinds import KINDS
from annotate.models import Response, ResponseStatus
from annotate.services.drafts import begin_draft
from qualcontrol.models import Act, Decision, Exclusion, Judgement, SpotCheck, Verdict
from qualcontrol.pages.forms import reasons_against
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.worker_risks import learn
from tests.accessibility import violations
from tests.browser.conftest import PHONE, let_in
from tests.factories import (
    ResponseFactory,
    SelectionFactory,
    UserFactory,
    WorkerAccountFactory,
    WorkerFactory,
    make_campaign,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LIST = "cat, dog, tree, car, house"
CAPTION = "[data-review-focus]"
# Whether the browser would ask before it closes the page.
WOULD_WARN = """() => {
  const event = new Event("beforeunload", { cancelable: true });
  window.dispatchEvent(event);
  return event.defaultPrevented;
}"""


@pytest.fixture
def campaign(site):
    """Three images, each with a good caption by two workers and a list by a third one."""
    campaign = make_campaign(tasks=3, review={"first": 3, "share": 0, "policy": "propose"})
    workers = [WorkerAccountFactory().worker for _ in range(3)]
    for task in campaign.tasks.all():
        good = f"Child {task.number} runs along a wide beach with a red kite in the wind."
        better = f"On a sunny day, child number {task.number} flies a kite beside the sea."
        responses = [
            ResponseFactory(task=task, worker=worker, text=text)
            for worker, text in zip(workers, (good, better, LIST), strict=True)
        ]
        review_submitted(campaign=campaign, responses=responses, at=timezone.now())
    learn(campaign=campaign)
    return campaign


@pytest.fixture
def many(site, settings, shared_data):
    """A campaign of 44 photographs with a caption each."""
    campaign = make_campaign(tasks=44, review={"first": 0, "share": 1, "policy": "propose"})
    (settings.MEDIA_ROOT / "images").mkdir(parents=True)
    photograph = (shared_data / "images" / "rocket.jpg").read_bytes()
    workers = WorkerFactory.create_batch(10)
    for index, task in enumerate(campaign.tasks.select_related("image")):
        task.image.file = f"images/{task.image.key}.jpg"
        (settings.MEDIA_ROOT / task.image.file).write_bytes(photograph)
        task.image.save()
        text = f"Rocket number {index} stands on its launch pad before a cloudy evening sky."
        response = ResponseFactory(task=task, worker=workers[index % 10], text=text)
        review_submitted(campaign=campaign, responses=[response], at=timezone.now())
    learn(campaign=campaign)
    return campaign


def open_queue(page: Page, site: str, campaign) -> None:
    page.goto(f"{site}/review/{campaign.slug}/")
    page.locator(CAPTION).wait_for()


def key_of_item(page: Page) -> str:
    return page.locator("[data-review]").get_attribute("data-key") or ""


def to_go(page: Page, count: int) -> Locator:
    """A locator of the line with the number of required checks left."""
    return page.get_by_text(re.compile(rf"^\s*{count} required check"))


def judge_by_keys(page: Page, *keys: str) -> None:
    """Give a verdict, and wait for the next caption."""
    before = key_of_item(page)
    for key in keys:
        page.keyboard.press(key)
    expect(page.locator(f'[data-review]:not([data-key="{before}"])')).to_be_visible()


def test_a_double_click_judges_the_caption_that_was_read_alone(page, site, sign_in, campaign):
    sign_in(UserFactory())
    open_queue(page, site, campaign)

    page.locator("[data-review-good]").dblclick()
    page.wait_for_function(f"() => !({WOULD_WARN})()")

    assert Judgement.objects.count() == 1


def test_a_reviewers_day(page, site, sign_in_by_form, campaign):
    sign_in_by_form(UserFactory(username="reviewer"))
    open_queue(page, site, campaign)
    page.get_by_role("link", name="All useful checks").click()
    expect(to_go(page, 9)).to_be_visible()

    for left in range(8, 1, -1):
        is_bad = page.locator(CAPTION).inner_text() == LIST
        judge_by_keys(page, *(("b", "1") if is_bad else ("g",)))
        expect(to_go(page, left)).to_be_visible()
    page.get_by_role("link", name="Quality").click()
    page.locator(".plain-list .pseudonym").first.click()
    page.get_by_role("link", name="Exclude worker …").click()
    page.get_by_label("Reason").fill("Lists of keywords, again and again.")
    page.get_by_role("button", name="Exclude").click()

    page.wait_for_url(lambda url: "/exclude/" not in url)
    assert Exclusion.objects.get().reason == "Lists of keywords, again and again."
    assert set(Response.objects.filter(caption__text=LIST).values_list("status", flat=True)) == {
        ResponseStatus.DISCARDED
    }
    assert SpotCheck.objects.exclude(verdict="").count() == 7
    assert Decision.objects.filter(act=Act.EXCLUDE).count() == 1
    page.goto(f"{site}/review/{campaign.slug}/decisions/")
    expect(page.get_by_text("Lists of keywords, again and again.").first).to_be_visible()


def test_forty_verdicts_by_keyboard_alone(page, site, sign_in, many):
    """As soon as the next image is there, faster than anybody reads. Prints the waiting times."""
    sign_in(UserFactory(username="reviewer"))
    open_queue(page, site, many)
    page.locator("[data-review] img").evaluate("(image) => image.decode()")

    for number in range(40):
        judge_by_keys(page, *(("b", "3") if number % 10 == 9 else ("g",)))
        page.locator("[data-review] img").evaluate("(image) => image.decode()")

    expect(to_go(page, 4)).to_be_visible()
    page.wait_for_function("performance.getEntriesByName('review-next').length >= 40")
    waits = page.evaluate(
        "performance.getEntriesByName('review-next').map((entry) => entry.duration)"
    )
    print(f"to the next caption: median {median(waits):.0f} ms, worst {max(waits):.0f} ms")
    assert len(waits) == 40
    assert Judgement.objects.filter(verdict=Verdict.BAD).count() == 4
    assert Judgement.objects.count() == 40


def test_captions_that_need_review_are_as_many_verdicts_as_was_promised(page, site, sign_in):
    review = {"first": 1, "share": 0, "policy": "propose"}
    campaign = make_campaign(tasks=8, review=review)
    workers = [WorkerAccountFactory().worker for _ in range(3)]
    for task in campaign.tasks.all():
        responses = [
            ResponseFactory(task=task, worker=worker, text=f"Child {task.number} runs at the sea.")
            for worker in workers
        ]
        review_submitted(campaign=campaign, responses=responses, at=timezone.now())
    learn(campaign=campaign)
    reviewer, selection = UserFactory(), SelectionFactory(images=8)
    file = {"selection": selection.name, "references": 2, "review": review}
    draft = begin_draft(owner=reviewer, file=file, at=timezone.now())
    sign_in(reviewer)
    page.goto(f"{site}/new/{draft.pk}/steps/checks/")
    expect(page.get_by_text("About 3 of 24 captions")).to_be_visible()
    page.goto(f"{site}/campaigns/{campaign.slug}/")

    step = page.locator(".next li", has_text="3 captions need review.")
    step.get_by_role("link", name="Review").click()
    expect(page.get_by_text("21 captions need no check")).to_be_visible()
    # Before, the script does not listen to keys.
    page.wait_for_load_state()
    for left in (3, 2, 1):
        expect(to_go(page, left)).to_be_visible()
        page.keyboard.press("g")
    expect(page.get_by_role("heading", name="All required checks are done")).to_be_visible()
    page.goto(f"{site}/campaigns/{campaign.slug}/")
    expect(page.get_by_text("need review")).to_be_hidden()

    page.goto(f"{site}/review/{campaign.slug}/")
    page.get_by_role("link", name="Review further captions").click()
    expect(page.locator(CAPTION)).to_be_visible()
    assert SpotCheck.objects.of(campaign).exclude(verdict="").count() == 3


def test_a_verdict_waits_until_the_server_answers_again(page, site, sign_in, campaign):
    sign_in(UserFactory())
    open_queue(page, site, campaign)
    page.route("**/checks/**", lambda route: route.abort())

    judge_by_keys(page, "g")
    expect(page.get_by_text("The server does not respond.")).to_be_visible()
    assert not Judgement.objects.exists()
    page.unroute("**/checks/**")

    expect(to_go(page, 8)).to_be_visible()
    assert Judgement.objects.count() == 1


def test_the_start_page_leads_a_reviewer_to_the_required_checks(page, site, sign_in, campaign):
    sign_in(UserFactory(team__role="REVIEWER"))
    page.goto(site)
    box = page.get_by_role("region", name="Next")
    expect(box).to_contain_text(f"{campaign.slug}: 9 captions need review.")

    box.get_by_role("link", name="Review").click()

    expect(to_go(page, 9)).to_be_visible()


def test_a_skipped_caption_comes_again_at_the_end(page, site, sign_in, campaign):
    sign_in(UserFactory())
    open_queue(page, site, campaign)
    first = key_of_item(page)

    judge_by_keys(page, "s")
    for _ in range(8):
        judge_by_keys(page, "g")

    expect(to_go(page, 1)).to_be_visible()
    assert key_of_item(page) == first
    assert Judgement.objects.count() == 8


def test_the_last_verdict_ends_with_a_page_that_says_so(page, site, sign_in, campaign):
    sign_in(UserFactory())
    open_queue(page, site, campaign)
    for _ in range(8):
        judge_by_keys(page, "g")

    page.keyboard.press("g")

    expect(page.get_by_text("No captions to review")).to_be_visible()
    assert Judgement.objects.count() == 9

    page.wait_for_load_state()
    expect(page.get_by_text("Judged good.")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("z")
    expect(page.get_by_text("Verdict taken back.")).to_be_visible()
    expect(page.locator(CAPTION)).to_be_visible()
    assert Judgement.objects.count() == 8


def test_the_status_line_says_what_was_recorded(page, site, sign_in, campaign):
    sign_in(UserFactory())
    open_queue(page, site, campaign)
    page.wait_for_load_state()
    said = page.locator("[data-review-said]")

    judge_by_keys(page, "g")
    expect(said).to_have_text("Judged good.", timeout=5000)
    judge_by_keys(page, "b", "3")
    expect(said).to_have_text("Judged bad: too vague: would fit many images.", timeout=5000)
    page.keyboard.press("z")
    expect(page.get_by_text("Verdict taken back.")).to_be_visible(timeout=5000)
    expect(said).to_have_text("")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("Verdict taken back.")).to_be_hidden(timeout=5000)


def test_taking_back_is_offered_while_there_is_a_verdict(page, site, sign_in, campaign):
    sign_in(UserFactory())
    open_queue(page, site, campaign)
    page.wait_for_load_state()
    first, button = key_of_item(page), page.get_by_role("button", name="Take back")
    expect(button).to_be_hidden()
    for way in ("Back", "Forward"):
        expect(page.get_by_role("button", name=way)).to_be_hidden()

    page.keyboard.press("z")
    judge_by_keys(page, "g")
    expect(button).to_be_visible()
    page.keyboard.press("z")

    expect(page.locator(f'[data-review][data-key="{first}"]')).to_be_visible()
    expect(button).to_be_hidden()


def test_verdicts_are_taken_back_and_replaced_by_keyboard(page, site, sign_in, campaign):
    sign_in(UserFactory())
    open_queue(page, site, campaign)
    keys = []
    for verdict in (["g"], ["b", "1"], ["g"]):
        keys.append(key_of_item(page))
        judge_by_keys(page, *verdict)
    expect(page.get_by_text("3 judged by you")).to_be_visible()

    page.keyboard.press("z")
    expect(page.locator(f'[data-review][data-key="{keys[2]}"]')).to_be_visible()
    page.keyboard.press("z")
    expect(page.locator(f'[data-review][data-key="{keys[1]}"]')).to_be_visible()
    expect(page.get_by_text("1 judged by you")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(f'[data-review][data-key="{keys[0]}"]')).to_be_visible()
    expect(page.get_by_text("You judged this good.")).to_be_visible()
    judge_by_keys(page, "b", "2")
    expect(page.locator(f'[data-review][data-key="{keys[1]}"]')).to_be_visible()
    judge_by_keys(page, "g")
    expect(page.get_by_text("2 judged by you")).to_be_visible()

    verdicts = {str(j.spot_check.response.key): j.verdict for j in Judgement.objects.all()}
    assert verdicts == {keys[0]: Verdict.BAD, keys[1]: Verdict.GOOD}


def test_the_page_waits_for_each_of_two_verdicts_on_one_caption(page, site, sign_in, campaign):
    sign_in(UserFactory())
    open_queue(page, site, campaign)
    first, waiting = key_of_item(page), []
    page.route("**/checks/**", lambda route: waiting.append(route))

    judge_by_keys(page, "g")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(f'[data-review][data-key="{first}"]')).to_be_visible()
    judge_by_keys(page, "b", "1")
    page.wait_for_timeout(100)
    with page.expect_response("**/checks/**"):
        waiting[0].continue_()
    expect(to_go(page, 8)).to_be_visible()

    assert page.evaluate(WOULD_WARN)


def test_a_reason_in_words_is_written_and_sent_by_keyboard(page, site, sign_in, campaign):
    sign_in(UserFactory())
    open_queue(page, site, campaign)

    page.keyboard.press("b")
    page.keyboard.press(str(len(reasons_against(KINDS[campaign.kind]))))
    page.keyboard.press("Enter")
    assert not Judgement.objects.exists()
    page.keyboard.type("goes on about the weather")
    judge_by_keys(page, "Enter")

    expect(to_go(page, 8)).to_be_visible()
    assert Judgement.objects.get().reason == "goes on about the weather"


def test_a_number_marks_a_reason_and_enter_gives_the_verdict(page, site, sign_in, campaign):
    sign_in(UserFactory())
    open_queue(page, site, campaign)
    first = key_of_item(page)
    page.wait_for_load_state()
    values = list(reasons_against(KINDS[campaign.kind]))

    page.keyboard.press(str(len(values)))
    page.keyboard.type("says good things")
    expect(page.get_by_label("Another reason, in your words")).to_have_value("says good things")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    for key in ("3", "2"):
        page.keyboard.press(key)
        expect(page.locator(f'[value="{values[int(key) - 1]}"]')).to_be_focused()
    assert key_of_item(page) == first
    assert not Judgement.objects.exists()
    judge_by_keys(page, "Enter")

    expect(to_go(page, 8)).to_be_visible()
    assert Judgement.objects.get().reason == reasons_against(KINDS[campaign.kind])[values[1]]


def test_after_signing_out_elsewhere_a_verdict_leads_to_the_sign_in_page(
    page, site, sign_in, campaign
):
    sign_in(UserFactory())
    open_queue(page, site, campaign)
    page.context.clear_cookies(name="sessionid")

    page.keyboard.press("g")

    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert not Judgement.objects.exists()


def test_the_queue_is_worked_through_without_javascript(browser: Browser, site, campaign):
    reviewer = UserFactory()
    context = browser.new_context(java_script_enabled=False, viewport=PHONE)
    let_in(context, site, reviewer)
    page = context.new_page()
    open_queue(page, site, campaign)
    skipped = key_of_item(page)

    page.get_by_role("link", name="Skip S").click()
    page.wait_for_url("**skip=**")
    page.get_by_role("button", name="Good").click()
    expect(to_go(page, 8)).to_be_visible()
    page.get_by_label("too vague").check()
    page.get_by_role("button", name="Bad").click()
    expect(to_go(page, 7)).to_be_visible()

    assert key_of_item(page) != skipped
    assert list(Judgement.objects.values_list("verdict", "reviewer").order_by("pk")) == [
        (Verdict.GOOD, reviewer.pk),
        (Verdict.BAD, reviewer.pk),
    ]
    assert page.locator("html").evaluate("root => root.scrollWidth") <= PHONE["width"]
    context.close()


PAGES = ["", "campaigns/{}/"]
PAGES += [
    f"review/{{}}/{name}" for name in ("", "quality/", "gold/", "workers/", "workers/WORKER/")
]


def test_axe_finds_nothing_wrong_with_the_signed_in_pages(page, site, sign_in, campaign):
    sign_in(UserFactory())
    worker = Response.objects.filter(caption__text=LIST).first().worker
    for path in PAGES:
        page.goto(f"{site}/{path.format(campaign.slug).replace('WORKER', worker.pseudonym)}")
        assert violations(page, []) == [], page.url
