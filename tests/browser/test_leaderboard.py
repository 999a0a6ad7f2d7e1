"""A submitter and an owner in a browser: create a challenge, submit, score, publish the board."""

import json

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from leaderboard.models import Challenge, Submission, SubmissionStatus
from leaderboard.services.challenges import publish_board
from leaderboard.services.scoring import score_waiting
from leaderboard.services.submissions import withdraw
from tests.accessibility import violations_in_both_schemes
from tests.browser.conftest import DESKTOP, PHONE
from tests.factories import UserFactory
from tests.leaderboard.making import (
    make_challenge,
    make_release,
    make_submission,
    make_submitter,
    results_of,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def challenge(site) -> Challenge:
    """With the human baseline and two scored submissions, a failed and a withdrawn one."""
    made = make_challenge(make_release(images=24), per_day=5)
    grace, at = make_submitter("grace"), timezone.now()
    for word in ("dog", "kite"):
        make_submission(made, grace, results_of(24, word), at=at, method=f"{word.title()}net")
    assert len([*score_waiting()]) == 3
    failed = make_submission(made, grace, results_of(24, "failed"), at=at, method="Slownet")
    Submission.objects.filter(pk=failed.pk).update(
        status=SubmissionStatus.FAILED,
        try_number=None,
        day_number=None,
        log="2026-11-02 12:00:00 Scoring did not end within 60 seconds.\n",
    )
    gone = make_submission(made, grace, results_of(24, "gone"), at=at, method="Oldnet")
    withdraw(submission=gone, reason="Trained on these images.", actor=UserFactory(), at=at)
    return made


def test_an_owner_creates_a_challenge_and_publishes_its_board(page, site, sign_in):
    make_release(images=12)
    sign_in(UserFactory(username="owner"))
    page.goto(site)
    page.get_by_role("link", name="Challenges").click()
    page.get_by_role("link", name="New challenge").click()
    page.get_by_label("Release").select_option("v1")
    page.get_by_label("Name", exact=True).fill("kites")
    page.get_by_label("Title").fill("Kites and dogs")
    page.get_by_role("button", name="Create challenge").click()

    page.wait_for_url(f"{site}/challenges/kites/manage/")
    expect(page.get_by_role("row", name="Human baseline")).to_contain_text("Waiting")
    page.get_by_role("button", name="Publish the board").click()
    expect(page.get_by_role("status")).to_have_text("Everybody can see the board now.")
    page.get_by_role("button", name="Close now").click()
    expect(page.get_by_role("status")).to_contain_text("The challenge is closed.")

    challenge = Challenge.objects.get()
    assert challenge.is_published
    assert challenge.is_closed(timezone.now())
    assert challenge.owner.username == "owner"


def test_a_submitter_submits_corrects_a_mistake_and_reads_the_scores(
    page, site, sign_in_by_form, tmp_path
):
    make_challenge(make_release(images=24)).submissions.all().delete()
    sign_in_by_form(make_submitter(), leads_to="/challenges/")
    page.get_by_role("link", name="Kites").click()
    expect(page.get_by_text("3 left now.")).to_be_visible()
    wrong, right = tmp_path / "wrong.json", tmp_path / "right.json"
    wrong.write_text(json.dumps([{"image_id": 1, "caption": "A dog."}]))
    right.write_bytes(results_of(24, "dog"))

    def upload(path):
        page.get_by_label("Method").fill("Dognet")
        page.get_by_label("Training data").fill("COCO Captions")
        page.get_by_label("Results file").set_input_files(path)
        page.get_by_role("button", name="Submit results").click()

    upload(wrong)
    expect(page.get_by_role("alert")).to_contain_text("Images without a caption: 2, 3, 4")
    expect(page.get_by_text("3 left now.")).to_be_visible()
    upload(right)
    expect(page.get_by_role("status")).to_contain_text("waits to be scored")
    expect(page.get_by_text("2 left now.")).to_be_visible()
    assert len([*score_waiting()]) == 1
    page.reload()

    scores = page.get_by_role("region", name="Scores of Dognet")
    expect(scores.get_by_role("columnheader", name="CIDEr")).to_be_visible()
    assert Submission.objects.get().status == SubmissionStatus.SCORED


def test_the_board_is_sorted_and_divided_without_javascript(browser, site, challenge):
    publish_board(challenge=challenge, at=timezone.now())
    context = browser.new_context(java_script_enabled=False, viewport=PHONE)
    page = context.new_page()
    page.goto(f"{site}/challenges/kites/board/")

    page.get_by_role("link", name="Bleu_1").click()
    page.get_by_role("link", name="in-domain").click()

    header = page.get_by_role("columnheader", name="Bleu_1")
    expect(header).to_have_attribute("aria-sort", "descending")
    expect(page.get_by_role("row", name="Human baseline")).to_be_visible()
    expect(page.get_by_role("row", name="Oldnet")).to_have_count(0)
    assert page.locator("html").evaluate("root => root.scrollWidth") <= PHONE["width"]
    context.close()


PAGES = ["", "kites/", "kites/board/"]
OWNERS = [*PAGES, "new/", "kites/manage/", "kites/manage/WITHDRAW/withdraw/"]


def test_axe_finds_nothing_wrong_with_the_pages(page, site, challenge, sign_in, settings):
    settings.SUBMITTERS_MAY_SIGN_UP = True
    publish_board(challenge=challenge, at=timezone.now())
    scored = Submission.objects.filter(method="Dognet").get()
    grace = scored.submitter

    check(page, f"{site}/challenges/sign-up/")
    sign_in(grace)
    for path in PAGES:
        check(page, f"{site}/challenges/{path}")
    page.locator(".account summary").click()
    page.get_by_role("button", name="Sign out").click()
    sign_in(UserFactory(username="owner"))
    for path in OWNERS:
        check(page, f"{site}/challenges/{path.replace('WITHDRAW', str(scored.pk))}")


def check(page: Page, address: str) -> None:
    """No violation of accessibility rules, and nothing wider than the screen."""
    page.goto(address)
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)
        found = violations_in_both_schemes(page)
        assert not found, f"{address}: {found}"
        assert page.locator("html").evaluate("root => root.scrollWidth") <= size["width"], address
