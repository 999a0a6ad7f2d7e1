"""Answers that are not sent yet: the network fails at each moment, for all kinds of tasks."""

import html
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, urlencode

import pytest
from playwright.sync_api import BrowserContext, Frame, Page, Route, expect

from annotate.models import Campaign, Response
from hits.models import TaskPage
from hits.reconcile.reconciler import reconcile
from tests.browser.campaigns import accept, of_kind, open_group, start
from tests.browser.conftest import keep_picture

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SENTENCE = "A brown dog jumps over a low wooden fence in a garden."
NOT_SENT = "Not sent. Your text is kept."
SENT = "Your answers were submitted"
EACH_KIND = (
    *("caption", "three captions", "rating", "correspondence", "paragraph"),
    *("rate first", "refine", "region", "preference"),
)
TASK, SUBMISSION = "**/task/*/", "**/mturk/externalSubmit"


@pytest.fixture
def kind(request) -> str:
    return getattr(request, "param", "caption")


@pytest.fixture
def campaign(kind, photograph, title) -> Campaign:
    """A published campaign of the kind."""
    return start(of_kind(kind, title, photograph))


def task_of(page: Page) -> Frame:
    """The task's frame, when its script runs."""
    page.frame_locator("iframe").locator("[data-task]").wait_for()
    frame = page.frames[1]
    frame.wait_for_load_state()
    return frame


def write(frame: Frame) -> dict[str, str]:
    """Fill in the task as a person does; return the answer in the form."""
    for option in frame.locator("input[type=radio][value='4']").all():
        option.check()
    for field in frame.locator("textarea").all():
        field.fill(SENTENCE)
    for word in frame.locator(".word.suggested").all():
        word.click()
        frame.get_by_role("group", name="If no box fits").get_by_role("button").nth(1).click()
    return answer_in(frame)


def expect_back(page: Page, written: dict[str, str]) -> Frame:
    frame = task_of(page)
    expect(frame.get_by_text("What you had entered is back.")).to_be_visible()
    assert answer_in(frame) == written
    return frame


def answer_in(frame: Frame) -> dict[str, str]:
    fields = frame.evaluate(
        "Object.fromEntries(new FormData(document.querySelector('[data-task]')))"
    )
    return {
        name: value
        for name, value in fields.items()
        if name != "token" and not name.startswith("behaviour-")
    }


def write_and_wait(page: Page) -> dict[str, str]:
    """Fill in the task; return the answer, once the page around the frame keeps it."""
    written = write(task_of(page))
    expect_kept(page, written)
    return written


def expect_kept(page: Page, written: dict[str, str]) -> None:
    page.wait_for_function(
        """(written) => Object.entries(localStorage).some(([key, value]) => {
          if (!key.startsWith("draft ")) return false;
          const { fields } = JSON.parse(JSON.parse(value).draft);
          return Object.entries(written).every(([name, text]) => fields[name] === text);
        })""",
        arg=written,
    )


def kept_in(place: Frame | Page) -> list[str]:
    return place.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('draft '))")


def submit(frame: Frame) -> None:
    frame.get_by_role("button", name=re.compile("Submit|Try again")).click()


def expect_sent_once(page: Page, campaign: Campaign, tasks: int = 1) -> None:
    expect(page.get_by_text(SENT).first).to_be_visible()
    reconcile(campaign)
    assert Response.objects.count() == tasks


@pytest.mark.parametrize("kind", EACH_KIND, indirect=True)
def test_nothing_is_lost_without_a_network(page, context: BrowserContext, worker, campaign, kind):
    accept(page, worker, campaign)
    written = write_and_wait(page)
    page.reload()
    frame = expect_back(page, written)

    context.set_offline(True)
    submit(frame)
    expect(frame.get_by_text(NOT_SENT)).to_be_visible()
    expect(frame.get_by_role("button", name="Try again")).to_be_enabled()
    assert answer_in(frame) == written
    keep_picture(page, f"unsent-offline-{kind}")
    context.set_offline(False)

    # The browser says that the network is back, and nobody presses the button.
    expect_sent_once(page, campaign, tasks=3 if kind == "three captions" else 1)
    assert kept_in(page) == []


def refuse(route: Route) -> None:
    """The server gets nothing."""
    route.abort()


def lose_reply(route: Route) -> None:
    """The server takes the request; its reply is lost."""
    if route.request.method == "POST":
        route.fetch()
    route.abort()


# Each kind reads in its own way an answer that only the marketplace has. What the page does after a
# failure is the same for all kinds.
FAILURES = [
    *((kind, TASK, refuse) for kind in EACH_KIND),
    ("caption", TASK, lose_reply),
    ("caption", SUBMISSION, refuse),
    ("caption", SUBMISSION, lose_reply),
]


@pytest.mark.parametrize(("kind", "address", "fails"), FAILURES, indirect=["kind"])
def test_a_server_fails_before_or_after_it_has_the_answer(
    page, worker, campaign, kind, address, fails
):
    accept(page, worker, campaign)
    frame = task_of(page)
    write(frame)
    page.route(address, fails)
    submit(frame)

    # Without our server the marketplace takes the answer.
    if address == SUBMISSION:
        expect(frame.get_by_text(NOT_SENT)).to_be_visible()
        page.unroute(address)
        submit(frame)

    expect_sent_once(page, campaign, tasks=3 if kind == "three captions" else 1)


# Several fields of a task, numbers, words, and sides that are exchanged.
@pytest.mark.parametrize(
    "kind", ["three captions", "rating", "correspondence", "preference"], indirect=True
)
def test_a_reply_that_is_lost_until_the_answer_is_read_back_is_no_error(
    page, worker, campaign, kind
):
    accept(page, worker, campaign)
    frame = task_of(page)
    write(frame)
    posts = []

    def lose_reply_of_post(route: Route) -> None:
        if route.request.method != "POST" or posts:
            route.continue_()
            return
        posts.append(route.fetch().status)
        route.abort()

    page.route(SUBMISSION, lose_reply_of_post)
    submit(frame)
    expect(frame.get_by_text(NOT_SENT)).to_be_visible()
    reconcile(campaign)
    before = Response.objects.count()
    submit(frame)

    expect(page.get_by_text(SENT).first).to_be_visible()
    reconcile(campaign)
    assert posts == [200]
    assert Response.objects.count() == before == (3 if kind == "three captions" else 1)


def test_the_text_is_back_after_going_back_and_on_another_way(page, worker, campaign):
    accept(page, worker, campaign)
    written = write_and_wait(page)
    address = page.url

    page.get_by_role("link", name="Queue").click()
    page.go_back()
    expect_back(page, written)
    page.goto(address)
    expect_back(page, written)


def test_text_written_before_the_script_loads_is_kept(page, worker, campaign):
    held: list[Route] = []
    open_group(page, worker, campaign)
    page.route("**/hits/task*.js", lambda route: held.append(route))
    page.get_by_role("button", name="Accept").first.click()
    page.frame_locator("iframe").locator("textarea").fill(SENTENCE)
    assert kept_in(page) == []
    for script in held:
        script.continue_()

    expect_kept(page, answer_in(task_of(page)))
    page.unroute_all()
    page.reload()
    expect(page.frame_locator("iframe").locator("textarea")).to_have_value(SENTENCE)


def test_text_written_before_the_outer_page_replies_replaces_the_kept_text(page, worker, campaign):
    held: list[Route] = []
    accept(page, worker, campaign)
    write_and_wait(page)
    page.route("**/marketplace/drafts*.js", lambda route: held.append(route))
    page.reload(wait_until="commit")
    frame = task_of(page)
    frame.locator("textarea").fill(SENTENCE.upper())
    frame.wait_for_function("() => Object.keys(localStorage).length > 0")
    for script in held:
        script.continue_()

    expect_kept(page, answer_in(frame))
    assert SENTENCE.upper() in answer_in(frame).values()


def test_the_counts_continue_with_the_text(page, worker, campaign):
    accept(page, worker, campaign)
    field = task_of(page).locator("textarea")
    field.press_sequentially("A dog jumps ")
    page.wait_for_function(
        "() => Object.values(localStorage).some((kept) => kept.includes('jumps '))"
    )
    page.reload()
    frame = task_of(page)
    expect(frame.locator("textarea")).to_have_value("A dog jumps ")
    field = frame.locator("textarea")
    field.press("End")
    field.press_sequentially("over a low fence in a garden")
    submit(frame)
    expect(page.get_by_text(SENT).first).to_be_visible()

    reconcile(campaign)
    response = Response.objects.get()
    assert response.caption.text == "A dog jumps over a low fence in a garden"
    assert response.behaviour.characters == {"typed": 40}


def test_the_next_person_on_the_computer_gets_nothing_of_it(page, marketplace, campaign):
    first, second = marketplace.fresh_workers(2)
    accept(page, first, campaign)
    write_and_wait(page)
    page.get_by_role("link", name="Queue").click()
    accept(page, second, campaign)
    frame = task_of(page)

    expect(frame.locator("textarea")).to_have_value("")
    assert kept_in(page) == []


def test_signing_out_asks_before_it_deletes_what_is_not_sent(page, worker, campaign):
    accept(page, worker, campaign)
    write_and_wait(page)
    address, asked = page.url, []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.get_by_role("button", name="Sign out").click()
    page.reload()
    expect(task_of(page).get_by_text("What you had entered is back.")).to_be_visible()
    assert "Signing out deletes it." in asked[0]

    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in*")
    assert kept_in(page) == []
    page.goto(worker.sign_in_url)
    page.goto(address)

    expect(task_of(page).locator("textarea")).to_have_value("")


def test_returning_a_task_asks_before_it_deletes_what_is_not_sent(page, worker, campaign):
    accept(page, worker, campaign)
    write_and_wait(page)
    asked = []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.get_by_role("button", name="Return this HIT").click()
    expect(task_of(page).locator("textarea")).to_be_visible()
    page.reload()
    expect(task_of(page).get_by_text("What you had entered is back.")).to_be_visible()
    assert "Returning the task deletes it." in asked[0]

    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Return this HIT").click()
    expect(page.get_by_role("button", name="Return this HIT")).to_have_count(0)
    assert kept_in(page) == []


def test_returning_a_task_from_the_queue_asks_first_too(page, worker, campaign):
    accept(page, worker, campaign)
    write_and_wait(page)
    page.get_by_role("link", name="Queue").click()
    asked = []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.get_by_role("button", name="Return").click()
    assert "Returning the task deletes it." in asked[0]
    assert len(kept_in(page)) == 1

    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Return").click()
    expect(page.get_by_text("HIT returned.")).to_be_visible()
    assert kept_in(page) == []


def test_going_back_after_the_sign_out_shows_no_page_of_the_worker(page, worker, campaign):
    accept(page, worker, campaign)
    task_of(page)
    other = page.context.new_page()
    other.goto(worker.url)
    # As a browser does with a page that it has kept.
    go_back = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
    page.evaluate(go_back)
    page.wait_for_timeout(300)
    assert "/assignments/" in page.url
    other.get_by_role("button", name="Sign out").click()
    other.wait_for_url("**/sign-in*")

    page.evaluate(go_back)

    page.wait_for_url("**/sign-in*")


def test_nothing_is_kept_of_a_tab_after_the_sign_out_in_another(page, worker, campaign):
    accept(page, worker, campaign)
    write_and_wait(page)
    other = page.context.new_page()
    other.goto(worker.url)
    other.once("dialog", lambda dialog: dialog.accept())
    other.get_by_role("button", name="Sign out").click()
    other.wait_for_url("**/sign-in*")

    task_of(page).locator("textarea").press_sequentially(" And")
    page.wait_for_timeout(300)

    assert kept_in(page) == []


def test_an_answer_that_was_changed_since_is_not_sent_by_itself(page, context, worker, campaign):
    accept(page, worker, campaign)
    frame = task_of(page)
    write(frame)
    context.set_offline(True)
    submit(frame)
    expect(frame.get_by_text(NOT_SENT)).to_be_visible()
    frame.locator("textarea").press_sequentially(" And")
    expect(frame.get_by_role("button", name="Submit")).to_be_enabled()
    expect(frame.get_by_text(NOT_SENT)).to_be_hidden()
    context.set_offline(False)
    page.wait_for_timeout(300)

    assert not TaskPage.objects.get().answered_at
    expect(frame.locator("textarea")).to_be_visible()


def test_after_the_time_the_button_says_so_and_the_text_stays(page, worker, campaign):
    page.clock.install()
    accept(page, worker, campaign)
    frame = task_of(page)
    write(frame)

    page.clock.fast_forward("24:00:00")

    expect(frame.get_by_role("button", name="The time is over")).to_be_disabled()
    expect(frame.get_by_text("You can still copy your text.")).to_be_visible()
    expect(frame.locator("textarea")).to_have_value(SENTENCE)
    expect(frame.locator("textarea")).to_be_editable()


def test_an_answer_that_the_marketplace_does_not_take_stays(page, worker, campaign):
    accept(page, worker, campaign)
    write_and_wait(page)
    frame = page.frames[1]
    second = page.context.new_page()
    second.goto(page.url)
    task_of(second)
    # The same text is there, and sending it twice is no error; another text is.
    other = second.frames[1]
    other.locator("textarea").fill("Two dogs jump over a low wooden fence in a garden.")
    submit(frame)
    expect(page.get_by_text(SENT).first).to_be_visible()
    submit(other)

    expect(other.get_by_role("button", name="Closed")).to_be_disabled()
    expect(other.get_by_text("already submitted")).to_be_visible()
    expect(other.locator("textarea")).to_have_value(re.compile("Two dogs"))


def test_an_error_of_what_was_sent_before_goes_without_a_network(page, context, worker, campaign):
    accept(page, worker, campaign)
    frame = task_of(page)
    frame.locator("textarea").fill("A dog.")
    submit(frame)
    problems = frame.get_by_role("alert").get_by_role("listitem")
    expect(problems).to_have_count(1)

    context.set_offline(True)
    frame.locator("textarea").fill(SENTENCE)
    submit(frame)

    expect(frame.get_by_text(NOT_SENT)).to_be_visible()
    expect(problems).to_have_count(0)


def test_an_error_goes_when_it_is_corrected(page, worker, campaign):
    accept(page, worker, campaign)
    frame = task_of(page)
    field = frame.locator("textarea")
    field.fill("There is www.example.org")
    submit(frame)
    problems = frame.get_by_role("alert").get_by_role("listitem")
    expect(problems).to_have_count(3)
    expect(field).to_be_focused()

    field.fill("There is a brown dog behind a low fence in a garden.")
    expect(problems).to_have_count(1)
    expect(problems).to_contain_text("Please do not start with")
    field.fill(SENTENCE)

    expect(problems).to_have_count(0)
    expect(frame.get_by_text("Please correct the marked fields.")).to_be_hidden()
    assert field.get_attribute("aria-invalid") is None
    assert not TaskPage.objects.get().answered_at


STRANGER = """<!doctype html><title>Another marketplace</title>
<iframe sandbox="allow-scripts allow-forms allow-same-origin"
  style="width: 100%; height: 600px" src="{task}"></iframe>"""


class Stranger(BaseHTTPRequestHandler):
    """Another marketplace: its pages know none of our messages, and no other site may read them."""

    task = ""
    submitted: ClassVar[list[dict[str, list[str]]]] = []

    def do_GET(self) -> None:
        self._answer(STRANGER.format(task=html.escape(self.task)))

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.submitted.append(parse_qs(self.rfile.read(length).decode()))
        self._answer("<!doctype html><title>Done</title><p>Taken by another marketplace.</p>")

    def _answer(self, page: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


@pytest.fixture
def stranger(site, settings, campaign) -> Iterator[type[Stranger]]:
    """Another marketplace with a task of the campaign in its frame; `url` is its page."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # Of the same host as our site: Chromium without cookies of third parties gives a frame of
    # another host no storage.
    url = f"http://localhost:{server.server_port}"
    settings.MTURK_WORKER_ORIGINS = (url,)
    given = {
        "assignmentId": "STRANGERS",
        "hitId": campaign.hits.first().hit_id,
        "workerId": "ASTRANGER",
        "turkSubmitTo": url,
    }
    made = type("Made", (Stranger,), {"submitted": [], "url": url})
    made.task = f"{site}/task/{campaign.slug}/?{urlencode(given)}"
    server.RequestHandlerClass = made
    yield made
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("kind", ["three captions", "correspondence"], indirect=True)
def test_in_another_marketplaces_frame_the_page_leaves_once_somebody_answers(
    page, context, stranger, kind
):
    page.goto(stranger.url)
    written = write(task_of(page))
    page.reload()
    frame = expect_back(page, written)
    context.set_offline(True)
    submit(frame)
    expect(frame.get_by_text(NOT_SENT)).to_be_visible()
    assert stranger.submitted == []
    context.set_offline(False)

    expect(frame.get_by_text("Taken by another marketplace.")).to_be_visible()
    assert len(stranger.submitted) == 1
    assert stranger.submitted[0]["assignmentId"] == ["STRANGERS"]
    assert TaskPage.objects.get().answered_at


def test_a_frame_without_storage_keeps_the_text_on_the_page(page, context, stranger):
    page.add_init_script(
        """Object.defineProperty(window, "localStorage", {
          get() { throw new DOMException("denied", "SecurityError"); },
        })"""
    )
    page.goto(stranger.url)
    frame = task_of(page)
    written = write(frame)
    context.set_offline(True)
    submit(frame)
    expect(frame.get_by_text(NOT_SENT)).to_be_visible()

    assert answer_in(frame) == written
    context.set_offline(False)
    expect(frame.get_by_text("Taken by another marketplace.")).to_be_visible()
    assert len(stranger.submitted) == 1


def test_above_a_keyboard_the_image_the_field_and_the_button_are_in_sight(
    phone: Page, worker, campaign
):
    accept(phone, worker, campaign)
    frame = task_of(phone)
    expect(phone.locator("iframe.fitted")).to_be_visible()
    frame.locator("textarea").tap()
    # Chromium on a computer has no keyboard on the screen.
    phone.evaluate(
        """() => {
          Object.defineProperty(visualViewport, "height", { get: () => 420 });
          visualViewport.dispatchEvent(new Event("resize"));
        }"""
    )
    expect(frame.locator("html.typing")).to_be_attached()
    phone.wait_for_timeout(300)

    parts = [frame.locator("img"), frame.locator("textarea"), frame.get_by_role("button")]
    boxes = [part.bounding_box() for part in parts]
    keep_picture(phone, "unsent-keyboard")
    # Less than a pixel is rounding.
    assert all(box and box["y"] > -1 and box["y"] + box["height"] <= 420 for box in boxes), boxes


@pytest.mark.parametrize("kind", ["rate first"], indirect=True)
def test_no_rating_can_be_changed_while_the_answer_is_sent(page, worker, campaign):
    accept(page, worker, campaign)
    frame = task_of(page)
    write(frame)
    page.route(TASK, lambda _: None)  # the site does not answer

    submit(frame)
    expect(frame.get_by_text("Saving…")).to_be_visible()

    radios = frame.locator("input[type=radio]")
    locked = radios.evaluate_all("all => all.map((one) => one.closest('[inert]') !== null)")
    assert locked
    assert all(locked)
