"""A task in a browser, in a frame from another site, with and without third-party cookies."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from marketplace.models import Assignment
from tests.marketplace.browser.written_for_amazon import HTML_QUESTION, WRITTEN_FOR_AMAZON
from tests.marketplace.driver import QUESTION, create_hit, create_hit_type

pytestmark = pytest.mark.browser

TASK_PAGE = b"""<!doctype html><html lang="en"><title>Task</title><form method="post">
<input type="hidden" name="assignmentId"><label>Caption <input name="caption"></label>
<button>Send</button></form><script>
const told = new URLSearchParams(location.search);
const form = document.forms[0];
form.elements.assignmentId.value = told.get("assignmentId");
form.action = told.get("turkSubmitTo") + "/mturk/externalSubmit";
</script></html>"""


class TaskPage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(TASK_PAGE)

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


@pytest.fixture
def task_url() -> Iterator[str]:
    """URL of a requester's page; `localhost` is another site than `127.0.0.1`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), TaskPage)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}/task"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("has_javascript", [True, False])
def test_a_worker_does_two_tasks_in_a_row(marketplace, task_url, page, has_javascript):
    client = marketplace.requester()
    hit_type_id = create_hit_type(client)
    question = QUESTION.replace("https://example.org/task", task_url)
    for _ in range(2):
        create_hit(client, hit_type_id, Question=question)
    if not has_javascript:
        # The outer page's script is blocked; the task's own, on its own site, still runs.
        page.route("**/static/marketplace/*.js", lambda route: route.abort())
    page.goto(marketplace.sign_in_link())

    page.get_by_role("button", name="Accept Describe an image").click()
    for text in ("A dog.", "A cat."):
        frame = page.frame_locator("iframe")
        frame.get_by_label("Caption").fill(text)
        frame.get_by_role("button", name="Send").click()
        if text == "A cat.":
            # With its script, the outer page says it and hides the frame.
            place = page if has_javascript else frame
            place.get_by_text("Your answers were submitted.").wait_for()
        elif has_javascript:
            page.get_by_role("button", name="Accept the next HIT").click()
        else:
            frame.get_by_role("link", name="Next HIT of this group").click()
            page.get_by_role("button", name="Accept", exact=True).click()

    submitted = Assignment.objects.filter(status="Submitted").order_by("pk")
    assert [
        found.answer.count(text)
        for found, text in zip(submitted, ("A dog.", "A cat."), strict=True)
    ] == [1, 1]


def test_a_page_in_the_hit_itself_cannot_reach_the_session(marketplace, page):
    client = marketplace.requester()
    html = (
        '<p id="out"></p><script>'
        "let seen; try { seen = parent.document.title + document.cookie } "
        'catch (error) { seen = "kept out: " + error.name }'
        'document.getElementById("out").textContent = seen</script>'
    )
    create_hit(client, create_hit_type(client), Question=HTML_QUESTION.format(html=html))
    page.goto(marketplace.sign_in_link())

    page.get_by_role("button", name="Accept Describe an image").click()

    told = page.frame_locator("iframe").locator("#out")
    expect(told).to_have_text("kept out: SecurityError")


def test_a_page_written_for_amazon_is_done_and_opens_a_survey(marketplace, task_url, page):
    client = marketplace.requester()
    question = HTML_QUESTION.format(html=WRITTEN_FOR_AMAZON.format(survey=task_url))
    create_hit(client, create_hit_type(client), Question=question)
    page.goto(marketplace.sign_in_link())
    frame = page.frame_locator("iframe")

    page.get_by_role("link", name="Describe an image").click()
    expect(frame.get_by_role("button", name="You must ACCEPT the HIT")).to_be_disabled()
    page.get_by_role("button", name="Accept", exact=True).click()
    with page.expect_popup() as opened:
        frame.get_by_role("link", name="Survey").click()
    frame.get_by_label("Comment").fill("A dog.")
    frame.get_by_role("button", name="Submit").click()
    page.get_by_text("This was the last HIT of this group").wait_for()

    # Not a sandboxed stranger, but an ordinary page of its own site.
    assert opened.value.evaluate("origin") == task_url.removesuffix("/task")
    assert "A dog." in Assignment.objects.get(status="Submitted").answer
