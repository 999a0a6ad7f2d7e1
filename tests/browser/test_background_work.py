"""Jobs and notices in the browser: pages that refresh themselves, on a phone and a wide screen."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from background.jobs import leases
from background.jobs.requests import request_job
from background.jobs.work import Result, Work
from background.models import Job
from background.notices.choices import add_webhook, send_test
from background.notices.sending import send_due
from tests.accessibility import violations_in_both_schemes
from tests.browser.conftest import DESKTOP, PHONE, keep_picture, let_in
from tests.factories import (
    NOON,
    UserFactory,
)
from tests.jobs import run_jobs

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def user(page: Page, site: str):
    """A researcher who is signed in."""
    user = UserFactory(username="ada", email="ada@lab.example", is_staff=True, is_superuser=True)
    let_in(page.context, site, user)
    return user


def ask(release, user, **arguments) -> Job:
    arguments = {"format": "coco", **arguments}
    at = timezone.now()
    return request_job(kind="export", arguments=arguments, user=user, at=at, about=release)


def test_a_jobs_page_follows_the_job_until_its_result_is_there(page, site, user, release):
    problems = []
    page.on("console", lambda message: message.type == "error" and problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    job = ask(release, user)
    page.goto(f"{site}{job.get_absolute_url()}")
    expect(page.get_by_text("Starts in a moment.")).to_be_visible()
    expect(page.get_by_role("link", name="Jobs 1 unfinished")).to_be_visible()

    taken = leases.take(at=timezone.now())
    work = Work(taken)
    work.step("Writing the archive", total=4)
    work.progress(3)
    leases.renew(job=taken, news=work.take_news(), at=timezone.now())
    expect(page.get_by_text("3 of 4")).to_be_visible()
    leases.finish(job=taken, result=Result("Archive written.", url="/jobs/"), at=timezone.now())

    expect(page.get_by_text("Archive written.").first).to_be_visible()
    expect(page.get_by_role("link", name="Jobs", exact=True).first).to_be_visible()
    page.get_by_role("link", name="Open result").click()
    page.wait_for_url(f"{site}/jobs/")
    assert problems == []


def test_the_cancel_button_keeps_the_focus_while_the_page_refreshes(page, site, user, release):
    job = ask(release, user)
    page.goto(f"{site}{job.get_absolute_url()}")
    page.get_by_role("button", name="Cancel job").focus()

    taken = leases.take(at=timezone.now())
    work = Work(taken)
    work.step("Writing the archive")
    leases.renew(job=taken, news=work.take_news(), at=timezone.now())
    expect(page.get_by_text("Writing the archive. You can leave this page.")).to_be_visible()

    expect(page.get_by_role("button", name="Cancel job")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Being cancelled")).to_be_visible()


def test_a_job_in_the_list_keeps_the_focus_while_the_list_refreshes(page, site, user, release):
    job = ask(release, user)
    page.goto(f"{site}/jobs/")
    link = page.locator("main").get_by_role("link", name=job.title)
    link.focus()

    leases.take(at=timezone.now())
    expect(page.locator("main").get_by_text("Running", exact=True).last).to_be_visible()

    expect(link).to_be_focused()


@pytest.mark.parametrize("address", ["/jobs/", "{job}"])
def test_a_page_that_refreshes_itself_stays_after_signing_out_elsewhere(
    page, site, user, release, address
):
    job = ask(release, user)
    page.goto(site + address.format(job=job.get_absolute_url()))

    page.context.clear_cookies()

    expect(page.get_by_role("alert")).to_contain_text("You are signed out.")
    expect(page.locator("main").get_by_text(job.title)).to_be_visible()
    page.get_by_role("link", name="Sign in again").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_pages_are_accessible_and_fit_the_screen(page, site, user, release):
    failed, done = ask(release, user, format="nothing"), ask(release, user)
    run_jobs()
    running = ask(release, user, format="csv")
    taken = leases.take(at=timezone.now())
    work = Work(taken)
    work.step("Writing the archive", total=1_000_000)
    work.progress(420_000)
    leases.renew(job=taken, news=work.take_news(), at=timezone.now())
    ask(release, user, format="parquet")
    webhook = add_webhook(
        about=release.campaign,
        url="https://hooks.example/services/annotation/4711",
        kinds=["job-failed", "reviews-wait"],
        user=user,
        at=NOON,
    )
    send_test(webhook=webhook, at=timezone.now())
    list(send_due())

    paths = {
        "jobs": "/jobs/",
        "failed": failed.get_absolute_url(),
        "done": done.get_absolute_url(),
        "running": running.get_absolute_url(),
        "notices": "/account/notices/",
        "webhooks": "/campaigns/scenes/webhooks/",
        "webhook": webhook.get_absolute_url(),
    }
    for name, path in paths.items():
        page.goto(f"{site}{path}")
        expect(page.get_by_role("heading").first).to_be_visible()
        for size in (PHONE, DESKTOP):
            page.set_viewport_size(size)
            keep_picture(page, f"{name}-{size['width']}")
            found = violations_in_both_schemes(page)
            assert not found, f"{name}: {found}"
            assert page.locator("html").evaluate("root => root.scrollWidth") <= size["width"], name
