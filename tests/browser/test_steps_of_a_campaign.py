"""A researcher makes a campaign by the steps alone, and a worker sees it."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotate.models import Campaign, CampaignDraft
from annotate.services.drafts import begin_draft
from hits.reconcile.reconciler import reconcile
from tests.accessibility import violations
from tests.browser.campaigns import run_sync
from tests.browser.conftest import PHONE
from tests.factories import ImageFactory, SelectionFactory, UserFactory
from tests.servers import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def selection(site, picture):
    """Two photographs without classes."""
    images = ImageFactory.create_batch(2, **picture("chelsea.png"))
    return SelectionFactory(name="my-photographs", images=images)


@pytest.fixture
def worker(marketplace):
    """A new account, which no requirement of nocaps would let in."""
    return marketplace.command("marketplace_worker", "newcomer", "--country", "FR")[0]


def proceed(page: Page, title: str) -> None:
    page.get_by_role("button", name=f"Continue: {title}").click()
    expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()


def test_a_campaign_is_made_by_the_steps_alone(page, site, sign_in, selection, worker, title):
    sign_in(UserFactory())
    page.goto(site)
    page.get_by_role("link", name="New campaign").click()
    page.get_by_role("button", name="Begin").click()

    page.get_by_label("Name").fill("cats")
    proceed(page, "Images")
    names = page.get_by_role("group", name="Object names (keywords) beside the image")
    expect(names).to_be_visible()
    page.get_by_label("my-photographs").check()
    expect(names).to_be_hidden()
    page.get_by_label("Reference captions for each image").fill("2")
    proceed(page, "Instructions")
    page.get_by_label("Language of the captions").select_option("German")
    expect(page.get_by_label("Title")).to_have_value("Ein Foto in einem Satz beschreiben")
    page.get_by_label("Language of the captions").select_option("English")
    expect(page.get_by_label("Title")).to_have_value("Describe a photograph in one sentence")
    page.get_by_label("Title").fill(title)
    page.get_by_label("Good examples").fill("A cat sleeps on a red sofa.")
    preview = page.frame_locator("iframe.of-preview:not(.loading)")
    expect(preview.get_by_text("A cat sleeps on a red sofa.")).to_be_attached()
    proceed(page, "Workers")
    page.get_by_label("nocaps’ requirements").check()
    expect(page.get_by_text("Details", exact=True)).to_be_visible()
    page.get_by_label("My own people").check()
    expect(page.get_by_text("Details", exact=True)).to_be_hidden()
    expect(page.locator("#side").get_by_text("Everybody")).to_be_visible()
    proceed(page, "Reward and budget")
    reward = page.get_by_label("Reward for one assignment")
    expect(reward).to_have_value("0.00")
    expect(page.get_by_text("Nobody is paid here.")).to_be_visible()
    reward.fill("0.10")
    expect(page.locator("#side").get_by_text("$9.00 per hour")).to_be_visible()
    page.get_by_label("Budget in US dollars").fill("none")
    expect(page.get_by_text("Enter an amount in US dollars")).to_be_visible()
    page.get_by_label("Budget in US dollars").fill("25")
    expect(page.get_by_text("Enter an amount in US dollars")).to_be_hidden()
    proceed(page, "Spot checks")
    proceed(page, "Check and create")
    page.get_by_role("button", name="Create draft campaign").click()
    page.get_by_role("link", name="Publish campaign").click()
    page.get_by_role("button", name="Publish campaign").click()
    page.wait_for_url("**/campaigns/cats/")
    run_sync(page)
    campaign = Campaign.objects.get(slug="cats")
    reconcile(campaign)
    page.goto(worker["sign_in_url"])
    page.get_by_role("link", name=title).click()

    expect(page.get_by_role("button", name="Accept").first).to_be_visible()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("A cat sleeps on a red sofa.")).to_be_attached()
    assert campaign.tasks.count() == 2


def box_of(locator):
    box = locator.bounding_box()
    assert box is not None
    return box


def test_the_preview_stands_beside_the_entries_and_follows_the_typing(
    page, sign_in, site, selection
):
    user = UserFactory()
    sign_in(user)
    file = {"name": "cats", "selection": selection.name}
    draft = begin_draft(owner=user, file=file, at=timezone.now())
    page.goto(f"{site}/new/{draft.pk}/steps/instructions/")
    form, preview = page.locator("#step-form"), page.locator("iframe.of-preview")

    beside = box_of(form)["x"] + box_of(form)["width"] <= box_of(preview)["x"]
    page.get_by_label("Good examples").press_sequentially("A cat sleeps.")
    page.get_by_label("Good examples").scroll_into_view_if_needed()
    expect(
        page.frame_locator("iframe.of-preview:not(.loading)").get_by_text("A cat sleeps.")
    ).to_be_attached()
    page.get_by_label("Good examples").press_sequentially(" A dog runs.")
    frame = page.frame_locator("iframe.of-preview:not(.loading)")
    expect(frame.get_by_text("A cat sleeps. A dog runs.")).to_be_attached()
    expect(page.locator("iframe[data-preview]")).to_have_count(3)

    assert beside
    assert box_of(preview)["y"] < 900  # in sight of what is edited
    expect(page.get_by_label("Good examples")).to_be_focused()
    page.set_viewport_size(PHONE)
    assert box_of(form)["y"] + box_of(form)["height"] <= box_of(preview)["y"]


def test_typed_entries_survive_a_reload_and_a_second_tab(page, sign_in, site):
    sign_in(UserFactory())
    page.goto(f"{site}/new/")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_load_state()

    page.get_by_label("Name").fill("streets")
    expect(page.get_by_text("Saved at")).to_be_visible()
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_label("Name")).to_have_value("streets")
    other.get_by_label("Name").fill("from-the-second-tab")
    expect(other.get_by_text("Saved at")).to_be_visible()
    page.get_by_label("Name").fill("from-the-first-tab")
    expect(page.get_by_text("was changed in another tab")).to_be_visible()
    assert CampaignDraft.objects.get().file["name"] == "from-the-second-tab"
    page.get_by_role("button", name="Keep my entries").click()

    expect(page.get_by_role("heading", name="Images", level=1)).to_be_visible()
    assert CampaignDraft.objects.get().file["name"] == "from-the-first-tab"


def test_entries_that_the_site_does_not_store_are_said_to_be_not_saved(page, sign_in, site):
    sign_in(UserFactory())
    page.goto(f"{site}/new/")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_load_state()
    page.get_by_label("Name").fill("streets")
    expect(page.get_by_text("Saved at")).to_be_visible()
    not_saved = page.get_by_text("Not saved. Your entries are still on this page.")

    page.context.set_offline(True)
    page.get_by_label("Name").fill("street-scenes")
    expect(not_saved).to_be_visible()
    page.context.set_offline(False)
    page.get_by_label("Name").fill("street-scenes-1")
    expect(page.get_by_text("Saved at")).to_be_visible()
    page.context.clear_cookies()
    page.get_by_label("Name").fill("street-scenes-2")

    expect(page.get_by_role("alert")).to_contain_text("You are signed out.")
    expect(not_saved).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("street-scenes-2")


def test_a_button_waits_for_what_is_being_stored(page, sign_in, site):
    sign_in(UserFactory())
    page.goto(f"{site}/new/")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_label("Name")).to_be_visible()
    page.wait_for_load_state()
    held = []
    page.route("**/steps/task/", lambda route: held.append((route, route.fetch())), times=1)
    page.get_by_label("Name").fill("str")
    while not held:
        page.wait_for_timeout(50)
    [(route, stored)] = held

    page.get_by_label("Name").press_sequentially("eets")
    page.get_by_role("button", name="Continue: Images").click()
    route.fulfill(response=stored)

    expect(page.get_by_role("heading", name="Images", level=1)).to_be_visible()
    assert CampaignDraft.objects.get().file["name"] == "streets"


def test_an_entry_in_the_last_moment_is_stored(page, sign_in, site):
    sign_in(UserFactory())
    page.goto(f"{site}/new/")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_label("Name")).to_be_visible()
    page.wait_for_load_state()

    steps = page.get_by_role("navigation", name="Steps")
    page.get_by_label("Name").fill("streets")
    steps.get_by_role("link", name="Images").click()
    expect(page.get_by_role("heading", name="Images", level=1)).to_be_visible()

    wait_until(lambda: CampaignDraft.objects.get().file.get("name") == "streets")
    steps.get_by_role("link", name="Task").click()
    expect(page.get_by_label("Name")).to_have_value("streets")


def test_axe_finds_nothing_wrong_with_the_steps(page, sign_in, site, selection):
    sign_in(UserFactory())
    page.goto(f"{site}/new/")
    found = violations(page, [])
    page.get_by_role("button", name="Begin").click()
    names = ["task", "images", "instructions", "workers", "reward", "checks", "checklist"]
    base = page.url.removesuffix("task/")
    for name in names:
        page.goto(f"{base}{name}/")
        found += violations(page, [])
        page.set_viewport_size(PHONE)
        width = page.locator("html").evaluate("root => root.scrollWidth")
        assert width <= PHONE["width"], name

    assert found == []
