"""A worker at the marketplace in a browser, from the first link to the first payment."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.accessibility import violations_in_both_schemes
from tests.browser.conftest import DESKTOP
from tests.browser.marketplace_people import (
    EXTERNAL,
    HTML,
    Lab,
    caption,
    serving_pages,
    user_who_lets_third_parties,
)
from tests.hits.marketplace_process import running_marketplace
from tests.servers import PATIENCE

pytestmark = pytest.mark.browser

PASSWORD = "four quiet brown horses"
# Tries what a page of ill will would; each line tells how it went.
THIEF = """<!DOCTYPE html><html lang="en"><title>Task</title><ul></ul><script>
const say = (name, text) => {
  const line = document.createElement("li");
  line.textContent = name + ": " + text;
  document.querySelector("ul").append(line);
};
const attempt = (name, act) => {
  try { say(name, "got " + act()); } catch (error) { say(name, "refused"); }
};
const site = new URLSearchParams(location.search).get("turkSubmitTo");
attempt("cookie", () => document.cookie);
attempt("storage", () => localStorage.length);
attempt("parent", () => parent.document.title);
attempt("sign-out form", () => parent.document.forms[0].submit());
attempt("top", () => { top.location = "about:blank"; return "away"; });
(async () => {
  for (const path of ["/profile", "/earnings", "/frames/none", "/"]) {
    try {
      const answer = await fetch(site + path, { credentials: "include" });
      say("fetch " + path, "got " + (await answer.text()).length);
    } catch (error) { say("fetch " + path, "refused"); }
  }
  say("all", "tried");
})();
</script></html>"""


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[str]:
    with serving_pages() as url:
        yield url


@pytest.fixture
def lab(marketplace, elsewhere) -> Lab:
    """A requester with three HITs whose pages are on another site."""
    made = Lab(marketplace)
    made.post(EXTERNAL.format(f"{elsewhere}/task"), count=3)
    return made


def sign_up(page: Page, url: str, name: str) -> None:
    page.goto(url)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Country").fill("NL")
    page.get_by_role("button", name="Create account").click()


def test_from_an_invitation_to_the_first_payment(page, marketplace, lab):
    invitation = marketplace.command("marketplace_invite")[0]["invitation_url"]
    sign_up(page, invitation, "Worker of the first payment")
    expect(page.get_by_text("Account created")).to_be_visible()

    page.get_by_role("link", name=lab.title).click()
    page.get_by_role("button", name="Accept", exact=True).click()
    caption(page, "A dog.")
    expect(page.get_by_text("Your answers were submitted").first).to_be_visible()
    lab.client.approve_assignment(AssignmentId=lab.submitted()[0]["AssignmentId"])
    page.goto(f"{marketplace.url}/earnings")

    expect(page.get_by_text("Approved", exact=True)).to_be_visible()
    expect(page.locator(".headline")).to_have_text("Total earned$0.10")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Name").fill("Worker of the first payment")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Available HITs")).to_be_visible()


def test_a_submission_leads_straight_on_where_the_worker_wants_it(page, marketplace, lab):
    page.goto(marketplace.fresh_workers(1)[0].sign_in_url)
    page.get_by_role("link", name=lab.title).click()
    page.get_by_label("Auto-accept next HIT").check()
    page.get_by_role("button", name="Accept", exact=True).click()
    first = page.url

    caption(page, "A dog.")
    page.wait_for_url(lambda url: "/assignments/" in url and url != first)
    second = page.url
    with page.expect_response("**/auto-accept"):
        page.get_by_label("Auto-accept next HIT").uncheck()
    caption(page, "A cat.")
    expect(page.get_by_role("button", name="Accept the next HIT")).to_be_focused()

    assert page.url == second
    assert len(lab.submitted()) == 2


@pytest.mark.parametrize("has_javascript", [True, False])
def test_from_a_panel_to_the_completion_code(
    browser: Browser, marketplace, lab, elsewhere, has_javascript
):
    study = marketplace.command(
        "marketplace_study", lab.title, "--hit-type", lab.hit_type_id, "--assignments", "2",
        "--completion-code", "C0DE", "--return-url", f"{elsewhere}/submissions/complete",
    )[0]  # fmt: skip
    context = browser.new_context()
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    if not has_javascript:
        page.route("**/static/marketplace/*.js", lambda route: route.abort())

    page.goto(f"{study['join_url']}?PROLIFIC_PID=5f0c&STUDY_ID=1&SESSION_ID=2")
    page.get_by_role("button", name="Start or continue").click()
    for number, text in enumerate(("A dog.", "A cat."), start=1):
        expect(page.get_by_text(f"{number} of 2")).to_be_visible()
        caption(page, text)
        if not has_javascript:
            frame = page.frame_locator("iframe")
            frame.get_by_role("link", name="Continue the study").click()
            if number == 1:
                page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("C0DE")).to_be_visible()
    if not has_javascript:
        page.get_by_role("link", name="Return to the panel with this code").click()
    page.wait_for_url(f"{elsewhere}/submissions/complete?cc=C0DE")

    assert len(lab.submitted()) == 2
    context.close()


@pytest.mark.parametrize(
    ("allowed", "tells"), [(True, "cookies kept"), (False, "cookies shut out")]
)
def test_the_frame_on_another_site_works_with_and_without_its_cookies(
    browser: Browser, tmp_path, marketplace, lab, allowed, tells
):
    context = user_who_lets_third_parties(
        browser.browser_type, tmp_path / "profile", keep_cookies=allowed
    )
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    page.goto(marketplace.fresh_workers(1)[0].sign_in_url)
    page.get_by_role("button", name=f"Accept {lab.title}").click()
    expect(page.frame_locator("iframe").get_by_text(tells)).to_be_visible()

    caption(page, "A dog.")

    expect(page.get_by_text("Your answers were submitted").first).to_be_visible()
    assert "A dog." in lab.submitted()[0]["Answer"]
    context.close()


def try_to_steal(page: Page, lab: Lab) -> list[str]:
    """Open the malicious HIT; return what it reports."""
    lab.post(HTML.format(THIEF))
    page.get_by_role("link", name="HITs", exact=True).click()
    page.get_by_role("button", name=f"Accept {lab.title}").click()
    frame = page.frame_locator("iframe")
    frame.get_by_text("all: tried").wait_for()
    return frame.locator("li").all_inner_texts()


REFUSED = [
    "cookie: refused",
    "storage: refused",
    "parent: refused",
    "sign-out form: refused",
    "top: refused",
    "fetch /profile: refused",
    "fetch /earnings: refused",
    "fetch /frames/none: refused",
    "fetch /: refused",
    "all: tried",
]


def test_a_hits_own_page_gets_nothing_of_the_worker(page, marketplace):
    lab = Lab(marketplace)
    page.goto(marketplace.fresh_workers(1)[0].sign_in_url)

    assert try_to_steal(page, lab) == REFUSED


def test_hits_own_pages_on_their_own_host_cannot_steal(page, tmp_path):
    with running_marketplace(
        tmp_path, MARKETPLACE_FRAME_URL="http://localhost:{port}"
    ) as marketplace:
        lab = Lab(marketplace)
        page.goto(marketplace.workers("a")[0].sign_in_url)

        stolen = try_to_steal(page, lab)

        assert page.locator("iframe").get_attribute("src").startswith("http://localhost:")
        assert stolen == REFUSED


def test_a_hits_own_page_submits_its_answers(page, marketplace):
    lab = Lab(marketplace)
    form = (
        '<!DOCTYPE html><html lang="en"><title>Task</title><form method="post">'
        '<input type="hidden" name="assignmentId"><label>Caption <input name="caption"></label>'
        "<button>Send</button></form><script>const told = new URLSearchParams(location.search);"
        'document.forms[0].assignmentId.value = told.get("assignmentId");'
        'document.forms[0].action = told.get("turkSubmitTo") + "/mturk/externalSubmit";'
        "</script></html>"
    )
    lab.post(HTML.format(form))
    page.goto(marketplace.fresh_workers(1)[0].sign_in_url)
    page.get_by_role("button", name=f"Accept {lab.title}").click()

    caption(page, "A dog.")

    expect(page.get_by_text("This was the last HIT of this group")).to_be_visible()
    assert "A dog." in lab.submitted()[0]["Answer"]


def test_no_other_site_can_frame_a_workers_page(page, marketplace, elsewhere):
    page.goto(marketplace.fresh_workers(1)[0].sign_in_url)
    page.goto(f"{elsewhere}/")

    with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
        page.evaluate(
            "url => { const f = document.createElement('iframe'); f.src = url;"
            " document.body.append(f); }",
            f"{marketplace.url}/earnings",
        )


@pytest.fixture
def busy_worker(marketplace, lab, elsewhere):
    """A worker with data on every page, and the URLs of all pages."""
    worker = marketplace.fresh_workers(1)[0]
    first, second = worker.accept(lab.hit_type_id), worker.accept(lab.hit_type_id)
    worker.submit(first.assignment_id, caption="A dog.")
    lab.client.approve_assignment(AssignmentId=first.assignment_id, RequesterFeedback="Well done")
    lab.client.send_bonus(
        WorkerId=worker.worker_id, AssignmentId=first.assignment_id, BonusAmount="0.50",
        Reason="A_very_long_word_without_any_place_to_break_it_" * 3, UniqueRequestToken="1",
    )  # fmt: skip
    lab.client.notify_workers(
        Subject="Thank you", MessageText="x" * 200, WorkerIds=[worker.worker_id]
    )
    study = marketplace.command(
        "marketplace_study", f"{lab.title} study", "--hit-type", lab.hit_type_id, "--assignments",
        "1", "--completion-code", "C0DE", "--return-url", f"{elsewhere}/back",
    )[0]  # fmt: skip
    invitation = marketplace.command("marketplace_invite")[0]["invitation_url"]
    own = ["/", "/?q=nothing-like-it", "/queue", "/earnings", "/messages", "/profile"]
    own += [f"/groups/{lab.hit_type_id}/preview", f"/assignments/{first.assignment_id}"]
    asked = lab.client.create_qualification_type(
        Name=lab.title, Description="For careful writers.", QualificationTypeStatus="Active"
    )
    own += [f"/assignments/{second.assignment_id}"]
    own += [f"/qualifications/{asked['QualificationType']['QualificationTypeId']}"]
    strangers = [f"{marketplace.url}/sign-in", invitation, f"{study['join_url']}?PROLIFIC_PID=1"]
    return worker, strangers, [marketplace.url + path for path in own]


def all_pages(page: Page, busy_worker) -> Iterator[str]:
    """Open all pages one after another."""
    worker, strangers, own = busy_worker
    for url in strangers:
        page.goto(url)
        yield url
    page.goto(worker.sign_in_url)
    for url in own:
        page.goto(url)
        yield url
    page.goto(own[3])
    with page.expect_navigation():
        page.locator(".months a").first.click()
    yield page.url
    page.goto(strangers[-1])
    for name in ("Start or continue", "Return this task"):
        with page.expect_navigation():
            page.get_by_role("button", name=name).click()
        yield page.url


@pytest.mark.parametrize("width", [320, 390])
def test_no_page_scrolls_sideways_on_a_phone(browser: Browser, busy_worker, width):
    context = browser.new_context(viewport={"width": width, "height": 700}, has_touch=True)
    page = context.new_page()

    wide = [
        url
        for url in all_pages(page, busy_worker)
        if page.locator("html").evaluate("root => root.scrollWidth") > width
    ]

    assert wide == []
    context.close()


def test_axe_finds_nothing_wrong_with_any_page(browser: Browser, busy_worker):
    context = browser.new_context(viewport=DESKTOP)
    page = context.new_page()
    warnings: list[str] = []
    page.on("console", lambda message: warnings.append(message.text))

    reports = {}
    for url in all_pages(page, busy_worker):
        # The task in the frame is the requester's own.
        if found := violations_in_both_schemes(page, context={"exclude": [["iframe"]]}):
            reports[url] = found

    assert reports == {}
    assert not [text for text in warnings if "Content Security Policy" in text]
    context.close()
