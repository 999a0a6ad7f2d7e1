"""Without a pointer: a campaign is made, a second opinion asked for, a worker excluded."""

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from annotate.models import Campaign
from qualcontrol.models import Exclusion, SecondOpinion
from qualcontrol.services.intake import review_submitted
from tests.factories import (
    ImageFactory,
    ResponseFactory,
    SelectionFactory,
    UserFactory,
    WorkerAccountFactory,
    make_campaign,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MOST_TABS = 150


def go_to(page: Page, target: Locator) -> None:
    """Press Tab until the element has the focus."""
    target.wait_for()
    for _ in range(MOST_TABS):
        if target.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"The Tab key does not reach {target}")


def press(page: Page, target: Locator, key: str = "Enter") -> None:
    go_to(page, target)
    page.keyboard.press(key)


def enter(page: Page, label: str, text: str) -> None:
    go_to(page, page.get_by_label(label, exact=True))
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type(text)


def proceed(page: Page, step: str) -> None:
    press(page, page.get_by_role("button", name=f"Continue: {step}"))
    expect(page.get_by_role("heading", name=step, level=1)).to_be_visible()


@pytest.fixture
def campaign(site):
    """Two images, each with a caption by a worker and one by another."""
    campaign = make_campaign(tasks=2, review={"first": 2, "share": 0, "policy": "propose"})
    workers = [WorkerAccountFactory().worker for _ in range(2)]
    for task in campaign.tasks.all():
        text = f"Child {task.number} runs along a wide beach with a red kite in the wind."
        responses = [ResponseFactory(task=task, worker=worker, text=text) for worker in workers]
        review_submitted(campaign=campaign, responses=responses, at=timezone.now())
    return campaign


def test_a_campaign_is_made_by_keyboard_alone(page, sign_in, site):
    SelectionFactory(name="streets", images=ImageFactory.create_batch(2))
    sign_in(UserFactory())
    page.goto(site)

    press(page, page.get_by_role("link", name="New campaign").first)
    press(page, page.get_by_role("button", name="Begin"))
    enter(page, "Name", "by-keyboard")
    proceed(page, "Images")
    press(page, page.get_by_role("radio", name="streets"), "Space")
    enter(page, "Reference captions for each image", "2")
    proceed(page, "Instructions")
    proceed(page, "Workers")
    own = page.get_by_role("radio", name="My own people")
    go_to(page, page.locator("[name=workers__who]:checked"))
    while not own.is_checked():
        page.keyboard.press("ArrowDown")
    proceed(page, "Reward and budget")
    enter(page, "Budget in US dollars", "25")
    proceed(page, "Spot checks")
    proceed(page, "Check and create")
    press(page, page.get_by_role("button", name="Create draft campaign"))

    expect(page.get_by_role("link", name="Publish campaign")).to_be_visible()
    made = Campaign.objects.get(slug="by-keyboard")
    assert (made.tasks.count(), made.config.references, made.config.budget) == (2, 2, 25)


def test_a_second_opinion_is_asked_for_by_its_key(page, site, sign_in, campaign):
    asker, _other = UserFactory.create_batch(2)
    sign_in(asker)
    page.goto(f"{site}/review/{campaign.slug}/")
    first = page.locator("[data-review]").get_attribute("data-key")

    page.keyboard.press("o")
    expect(page.get_by_label("Your question to another reviewer")).to_be_focused()
    page.keyboard.type("Is good grammar enough?")
    with page.expect_response("**/second-opinion/"):
        page.keyboard.press("Enter")

    expect(page.locator(f'[data-review]:not([data-key="{first}"])')).to_be_visible()
    asked = SecondOpinion.objects.get()
    assert (asked.asked_by, asked.question) == (asker, "Is good grammar enough?")
    assert str(asked.response.key) == first


def test_a_worker_is_excluded_by_keyboard_alone(page, site, sign_in, campaign):
    sign_in(UserFactory())
    worker = campaign.tasks.first().responses.first().worker
    page.goto(f"{site}/review/{campaign.slug}/workers/{worker.pseudonym}/")

    press(page, page.get_by_role("link", name="Exclude worker …"))
    expect(page.get_by_role("heading", name="Exclude")).to_be_visible()
    enter(page, "Reason", "The same sentence for every image.")
    press(page, page.get_by_role("button", name=f"Exclude {worker.pseudonym}"))

    page.wait_for_url(lambda url: "/exclude/" not in url)
    assert Exclusion.objects.get().reason == "The same sentence for every image."
