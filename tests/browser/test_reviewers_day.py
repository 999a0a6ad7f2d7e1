"""A reviewer's day: sign in, judge by keys and by mouse, exclude a careless worker, release."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from annotate.models import Response, ResponseStatus
from qualcontrol.models import Act, Decision, Exclusion, SpotCheck, Verdict
from tests.factories import (
    ResponseFactory,
    SpotCheckFactory,
    UserFactory,
    WorkerAccountFactory,
    WorkerFactory,
)
from tests.hits.conftest import make_campaign

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def campaign(site):
    """Three images with two good captions and a careless one each; six of them are drawn."""
    campaign = make_campaign(tasks=3)
    good, better, careless = (WorkerFactory(), WorkerFactory(), WorkerFactory())
    for worker in (good, better, careless):
        WorkerAccountFactory(worker=worker)
    for task in campaign.tasks.all():
        for worker in (good, better):
            ResponseFactory(task=task, worker=worker)
        checked = ResponseFactory(task=task, worker=careless, text="cat, dog, tree, car, house")
        SpotCheckFactory(response=checked)
    return campaign


def test_a_reviewers_day(page, site, sign_in, campaign):
    sign_in(UserFactory(username="reviewer"))
    page.goto(f"{site}/review/{campaign.slug}/")
    expect(page.get_by_text("3 to go")).to_be_visible()

    page.keyboard.press("g")
    expect(page.get_by_text("2 to go")).to_be_visible()
    page.keyboard.press("b")
    page.keyboard.press("1")
    expect(page.get_by_text("1 to go")).to_be_visible()
    page.get_by_role("link", name="Exclude this worker").click()
    expect(page.get_by_text("2").first).to_be_visible()
    page.get_by_label("Reason").fill("Lists of keywords, three times.")
    page.get_by_role("button", name="Exclude").click()

    page.wait_for_url(lambda url: "/exclude/" not in url)
    assert Exclusion.objects.get().reason == "Lists of keywords, three times."
    assert Response.objects.filter(status=ResponseStatus.DISCARDED).count() == 3
    assert SpotCheck.objects.filter(verdict=Verdict.BAD).count() == 1
    assert Decision.objects.filter(act=Act.EXCLUDE).count() == 1
    page.goto(f"{site}/review/{campaign.slug}/decisions/")
    expect(page.get_by_text("Lists of keywords, three times.").first).to_be_visible()


@pytest.mark.parametrize("path", ["", "campaigns/{}/", "review/{}/", "review/{}/workers/"])
def test_axe_finds_nothing_wrong_with_the_signed_in_pages(page, site, sign_in, campaign, path):
    sign_in(UserFactory())
    page.goto(f"{site}/{path.format(campaign.slug)}")

    found = Axe().run(page)

    assert found.violations_count == 0, found.generate_report()
