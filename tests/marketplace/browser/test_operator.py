"""The operator's pages in a browser: accessibility, small screens, and forms."""

import re
from datetime import timedelta

import pyotp
import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from marketplace import clock
from marketplace.models import Account, Hit, HitLayout, HitStatus, Requester, Study
from marketplace.services import accounts, hit_types, money
from marketplace.services.hit_types import describe
from shared.backups.models import BackupRun
from tests.accessibility import violations_in_both_schemes
from tests.marketplace.driver import create_hit, create_hit_type
from tests.marketplace.factories import make_hit, make_hit_type, make_study
from tests.marketplace.ledger import ledger_balance
from tests.marketplace.people import make_group

pytestmark = pytest.mark.browser

PASSWORD = "a long password"
WIDTHS = {"phone": 390, "tablet": 1024, "laptop": 1280, "desktop": 1600}


@pytest.fixture
def operator(marketplace, page) -> Page:
    """A page in which an operator has signed in with the form."""
    User.objects.create_user("root", password=PASSWORD, is_staff=True)
    page.goto(f"{marketplace.url}/operator/sign-in")
    page.get_by_label("Name").fill("root")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    return page


@pytest.fixture
def busy_marketplace(marketplace) -> list[str]:
    """A marketplace with data on every page; returns the pages' paths."""
    client, now = marketplace.requester("A" * 100), clock.now()
    hit_type_id = create_hit_type(client, Title="Describe an image in a sentence or two")
    hit = create_hit(client, hit_type_id, MaxAssignments=3)
    worker = marketplace.worker(country="NL")
    client.approve_assignment(AssignmentId=worker.work(hit_type_id))
    money.pay_out(at=now)
    marketplace.worker().work(hit_type_id)
    lab = Requester.objects.get()
    for at in (now, now - timedelta(days=1)):
        accounts.invite(uses=5, expires_at=at + timedelta(hours=1), at=now)
    make_study(
        lab.hit_types.get(), name="Everyday scenes", assignments=3, completion_code="C1A2B3", at=now
    )
    long = f"<p>${{{'i' * 200}}}</p>"
    hit_types.create_layout(requester=lab, name="Captions", page=long, at=now)
    return [
        "", "requesters", f"requesters/{lab.pk}", "workers", f"workers/{worker.worker_id}",
        "invitations", "studies", "groups", "layouts", "hits", f"hits/{hit['HITId']}",
        "activity", "money", "money/ledger", "account", "account/app", "operators", "backups",
    ]  # fmt: skip


def test_no_page_of_the_operators_has_a_fault_or_scrolls_sideways(
    marketplace, operator, busy_marketplace
):
    faults = {}
    for path in busy_marketplace:
        answer = operator.goto(f"{marketplace.url}/operator/{path}")
        assert answer is not None
        assert answer.status == 200, path
        for width in WIDTHS.values():
            operator.set_viewport_size({"width": width, "height": 844})
            if found := violations_in_both_schemes(operator):
                faults[path, width] = found
            if operator.locator("html").evaluate("root => root.scrollWidth") > width:
                faults[path, width] = ["scrolls sideways"]

    assert faults == {}


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_operators_backups_and_the_account_are_reached_from_every_page(operator, width):
    operator.set_viewport_size({"width": width, "height": 844})
    header = operator.get_by_role("banner")
    if width > WIDTHS["phone"]:  # where the menu is one line that scrolls
        assert header.locator("ul").evaluate("list => list.scrollWidth <= list.clientWidth")

    for link, heading in (
        ("Operators", "Operators"),
        ("Backups", "Backups"),
        ("Your account: root", "Your account"),
    ):
        header.get_by_role("link", name=link).click()
        expect(operator.get_by_role("heading", name=heading, level=1)).to_be_visible()


def test_an_operator_makes_a_requester_a_layout_and_a_study(marketplace, operator):
    operator.get_by_role("link", name="Requesters", exact=True).click()
    operator.get_by_label("Name", exact=True).fill("A new lab")
    operator.get_by_label("Balance in dollars", exact=True).fill("25.00")
    operator.get_by_role("button", name="Create requester").click()
    expect(operator.get_by_role("status")).to_have_text("Requester A new lab created.")
    lab = Requester.objects.get(name="A new lab")

    operator.get_by_role("link", name="HIT layouts").click()
    operator.get_by_label("Requester", exact=True).select_option("A new lab")
    operator.get_by_label("Name", exact=True).fill("Captions")
    operator.get_by_label("Page", exact=True).fill("<p>${image}</p>")
    operator.get_by_role("button", name="Create layout").click()
    expect(operator.get_by_role("cell", name="image", exact=True)).to_be_visible()

    hit_type = make_hit_type(lab)
    operator.get_by_role("link", name="Studies").click()
    operator.get_by_role("link", name="Show finished").click()
    operator.get_by_label("Name", exact=True).fill("Everyday scenes")
    operator.get_by_label("HITs", exact=True).select_option(hit_type.public_id)
    operator.get_by_label("HITs for each participant", exact=True).fill("3")
    operator.get_by_label("Completion code", exact=True).fill("C1A2B3")
    operator.get_by_role("button", name="Create study").click()
    operator.get_by_role("button", name="Close Everyday scenes").click()
    expect(operator.get_by_role("status")).to_have_text(
        "Everyday scenes is closed to new participants."
    )

    assert lab.available_balance == ledger_balance(lab, Account.AVAILABLE) == 25
    assert HitLayout.objects.get().requester == lab
    assert not Study.objects.get().is_open


def test_an_operator_sets_up_an_app_and_adds_another_operator(marketplace, operator, browser):
    operator.get_by_role("link", name="Your account: root").click()
    operator.get_by_role("link", name="Set up an app").click()
    picture = operator.get_by_alt_text("QR code with the key for your app")
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    key = operator.locator("ol code").inner_text().replace(" ", "")
    operator.get_by_label("Code").fill(pyotp.TOTP(key).now())
    operator.get_by_role("button", name="Turn on").click()
    expect(operator.get_by_role("status")).to_contain_text("Keep these recovery codes")
    operator.get_by_role("link", name="Marketplace admin").click()
    operator.get_by_role("navigation").get_by_role("link", name="Operators").click()
    operator.get_by_label("Name").fill("ada")
    operator.get_by_role("button", name="Add operator").click()
    link = operator.locator(".address").inner_text()

    guest = browser.new_page()
    guest.goto(link)
    for label in ("New password", "New password confirmation"):
        guest.get_by_label(label, exact=True).fill(PASSWORD)
    guest.get_by_role("button", name="Save password").click()
    guest.get_by_label("Name").fill("ada")
    guest.get_by_label("Password").fill(PASSWORD)
    guest.get_by_role("button", name="Sign in").click()

    expect(guest.get_by_role("heading", name="Overview")).to_be_visible()
    operator.get_by_role("link", name="Marketplace admin").click()
    operator.get_by_role("navigation").get_by_role("link", name="Operators").click()
    operator.locator("summary", has_text="Remove").click()
    operator.get_by_role("button", name="Remove operator ada").click()
    expect(operator.get_by_role("status")).to_have_text("Operator ada removed.")
    guest.reload()
    expect(guest.get_by_role("heading", name="Sign in")).to_be_visible()
    guest.close()


def test_an_operator_changes_the_password(operator, browser):
    elsewhere = browser.new_page()
    new = "another long password"

    operator.get_by_role("link", name="Your account: root").click()
    operator.get_by_label("Old password").fill(PASSWORD)
    for label in ("New password", "New password confirmation"):
        operator.get_by_label(label, exact=True).fill(new)
    operator.get_by_role("button", name="Change password").click()

    expect(operator.get_by_role("status")).to_contain_text("Password changed.")
    elsewhere.goto(operator.url)
    elsewhere.get_by_label("Name").fill("root")
    elsewhere.get_by_label("Password").fill(PASSWORD)
    elsewhere.get_by_role("button", name="Sign in").click()
    expect(elsewhere.get_by_role("alert")).to_contain_text("Wrong name, password or code.")
    elsewhere.get_by_label("Password").fill(new)
    elsewhere.get_by_role("button", name="Sign in").click()
    expect(elsewhere.get_by_role("heading", name="Your account")).to_be_visible()
    elsewhere.close()


def test_an_operator_sees_when_the_last_backup_ran_and_whether_it_could_be_read(operator):
    ended = clock.now() - timedelta(hours=2)
    run = {"started_at": ended, "ended_at": ended, "host": "lab", "folder": "/backups/1"}

    operator.get_by_role("banner").get_by_role("link", name="Backups").click()
    expect(operator.get_by_text("There is no backup of this site yet.")).to_be_visible()
    BackupRun.objects.create(database_bytes=1_000_000, **run)
    operator.reload()
    told = operator.get_by_text(re.compile("The last backup ended 2.hours ago, and could be read"))
    expect(told).to_be_visible()
    again = clock.now() - timedelta(hours=1)
    run |= {"started_at": again, "ended_at": again, "error": "disk is full"}
    BackupRun.objects.create(**run)
    operator.reload()

    expect(operator.get_by_text("The latest attempt failed.")).to_be_visible()
    expect(operator.get_by_text("failed: disk is full")).to_be_visible()
    expect(told).to_be_hidden()


def test_own_people_come_first_and_get_the_tasks_of_a_campaign_that_continues(
    marketplace, operator
):
    title = "Describe a photograph"
    for campaign, language in (("dogs-de", "de"), ("dogs-ar", "ar")):
        hit_type = make_hit_type(title=title, keywords=campaign)
        url = f"https://site.example/campaigns/{campaign}/"
        describe(hit_type=hit_type, campaign=campaign, language=language, url=url)
        make_hit(hit_type)
    Hit.objects.filter(hit_type=hit_type).update(status=HitStatus.REVIEWABLE)
    group = make_group()

    expect(operator.get_by_role("main").get_by_role("link").first).to_have_text("Own people")
    operator.get_by_role("main").get_by_role("link").first.click()
    operator.get_by_role("link", name=group.name).click()
    choice = operator.get_by_label("HITs")
    going_on = choice.locator("> option", has_text=title)
    assert [text.partition(":")[0] for text in going_on.all_inner_texts()] == ["dogs-de, German"]
    expect(choice.locator("option", has_text="dogs-ar, Arabic")).to_have_count(0)
    choice.select_option(going_on.get_attribute("value"))
    operator.get_by_role("button", name="Give tasks").click()

    link = operator.get_by_role("table").get_by_role("link", name="dogs-de")
    expect(link).to_have_attribute("href", "https://site.example/campaigns/dogs-de/")
