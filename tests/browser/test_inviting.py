"""A researcher invites people and sees who they are, and what happens when there are too few."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import BrowserContext, Page, expect

from annotate.models import Campaign, Image
from hits.reconcile.reconciler import reconcile
from hits.tasks import sync_campaigns
from tests.browser.campaigns import run_sync
from tests.browser.conftest import let_in
from tests.browser.own_people import join
from tests.factories import UserFactory, make_campaign
from tests.hits.framed_work import work
from tests.hits.marketplace_process import MarketplaceProcess, Person, running_marketplace
from tests.hits.own_people import link_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CAPTION = "A cat with green eyes looks straight at the camera."
TOO_FEW = "The people who joined cannot finish this: invite at least 1 more."
SECRET = "a secret of both sites, and of nobody else"


@pytest.fixture
def researcher(context: BrowserContext, site: str) -> User:
    """The user who is signed in: an operator of the requester site."""
    user = UserFactory(is_superuser=True, email="lab@university.example")
    let_in(context, site, user)
    return user


@pytest.fixture
def campaign(site, picture, title) -> Campaign:
    """A published campaign for own people on a photograph, which two of them describe."""
    campaign = make_campaign(tasks=1, references=1, workers={"who": "own"}, hit={"title": title})
    Image.objects.update(**picture("chelsea.png"))
    reconcile(campaign)
    return campaign


@pytest.fixture
def one_sign_in(tmp_path, live_server, settings, monkeypatch) -> Iterator[MarketplaceProcess]:
    """A marketplace that signs in the requester site's operators, and sends mail."""
    settings.HAND_OVER_SECRET = SECRET
    both = {"SITE_URL": live_server.url, "HAND_OVER_SECRET": SECRET, "HAND_OVER_OPERATORS": "1"}
    with running_marketplace(tmp_path, EMAIL_HOST="127.0.0.1", **both) as process:
        keys = process.requester("lab")
        settings.MARKETPLACE_URL = process.url
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", keys["access_key"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", keys["secret_key"])
        yield process


def test_inviting_is_one_page_and_one_sign_in_leads_to_the_other_site_and_back(
    page: Page, site, researcher, one_sign_in, campaign, monkeypatch
):
    # As on a server: of an address of this computer alone the page shows no code.
    monkeypatch.setattr("hits.pages.people.LOOPBACK_HOSTS", ())
    page.goto(f"{site}/campaigns/{campaign.slug}/")
    page.get_by_role("link", name="Invite people").first.click()
    page.get_by_label("Consent text").fill("I agree to describe photographs.")
    page.get_by_role("button", name="Make the link").click()
    code = page.get_by_alt_text("QR code of the link")
    assert code.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    page.get_by_label("E-mail addresses").fill("ada@university.example")
    page.get_by_role("button", name="Mail the link").click()
    expect(page.get_by_text("1 new on the list. Their mails are being sent.")).to_be_visible()

    page.get_by_role("link", name="This campaign at the marketplace").click()
    page.wait_for_url(f"{one_sign_in.url}/operator/people/*")
    expect(page.get_by_role("heading", level=1)).to_contain_text(campaign.slug)
    expect(page.get_by_label("Consent text")).to_have_value("I agree to describe photographs.")
    page.get_by_role("link", name=campaign.slug, exact=True).click()

    page.wait_for_url(f"{site}/campaigns/{campaign.slug}/")
    expect(page.get_by_role("heading", name="How people join")).to_be_visible()


def test_after_an_exclusion_that_leaves_too_few_the_overview_asks_for_one_more(
    page: Page, site, researcher, client, campaign
):
    link = link_of(campaign)
    for name in ("Mia", "Ben"):
        work(client, Person.join(link, f"{name} of {campaign}"), campaign)
    reconcile(campaign)
    overview = f"{site}/campaigns/{campaign.slug}/"
    too_few = page.get_by_text(TOO_FEW)
    page.goto(overview)
    expect(page.get_by_text("2 of 2 wanted")).to_be_visible()
    expect(too_few).to_be_hidden()

    workers = page.get_by_role("region", name="Workers", exact=True)
    workers.locator(".pseudonym").first.click()
    page.get_by_role("link", name="Exclude worker …").click()
    page.get_by_label("Reason").fill("The same sentence for every image.")
    page.get_by_role("button", name="Exclude").click()
    page.wait_for_url(lambda url: "/exclude/" not in url)
    page.goto(overview)
    page.get_by_role("button", name="Sync now").click()
    run_sync(page)
    page.goto(overview)

    expect(too_few).to_be_visible()
    page.get_by_role("region", name="Next").get_by_role("link", name="Invite people").click()
    expect(too_few).to_be_visible()


def test_after_a_withdrawal_that_leaves_too_few_both_pages_ask_for_one_more(
    page: Page, phone: Page, site, researcher, campaign
):
    link = link_of(campaign)
    Person.join(link, f"Ben of {campaign}")
    join(phone, link, "Mia who leaves")
    reconcile(campaign)
    too_few = page.get_by_text(TOO_FEW)
    page.goto(f"{site}/campaigns/{campaign.slug}/")
    expect(page.get_by_text("0 of 2 wanted")).to_be_visible()
    expect(too_few).to_be_hidden()

    phone.get_by_role("navigation").get_by_role("link", name="Account").tap()
    phone.get_by_role("link", name="Withdraw my work").tap()
    phone.get_by_label("I want to withdraw my work").check()
    phone.get_by_role("button", name="Withdraw my work").tap()
    expect(phone.get_by_text("was withdrawn on").first).to_be_visible()
    sync_campaigns()  # as the clock does
    page.reload()

    expect(too_few).to_be_visible()
    page.get_by_role("region", name="Next").get_by_role("link", name="Invite people").click()
    expect(too_few).to_be_visible()


def test_names_follow_the_consent_and_a_withdrawal_comes_by_itself(
    page: Page, phone: Page, site, researcher, campaign
):
    join(phone, link_of(campaign, shows_names=True), "Mia from the seminar")
    phone.get_by_role("button", name="Start").tap()
    frame = phone.frame_locator("iframe")
    frame.get_by_label("Describe the image in one sentence").fill(CAPTION)
    frame.get_by_role("button", name="Submit").tap()
    expect(phone.get_by_text("Thank you").first).to_be_visible()
    Person.join(link_of(campaign, name=f"Others of {campaign}"), f"Ben of {campaign}")
    reconcile(campaign)
    page.goto(f"{site}/review/{campaign.slug}/workers/")
    page.get_by_role("link", name="Who is who").click()
    mia = page.get_by_role("row", name="Mia from the seminar")
    expect(mia.get_by_role("cell").last).to_have_text("1")
    # Whose text did not say so.
    expect(page.get_by_text("1 other person is not named")).to_be_visible()

    phone.get_by_role("navigation").get_by_role("link", name="Account").tap()
    phone.get_by_role("link", name="Withdraw my work").tap()
    phone.get_by_label("I want to withdraw my work").check()
    phone.get_by_role("button", name="Withdraw my work").tap()
    expect(phone.get_by_text("was withdrawn on").first).to_be_visible()
    sync_campaigns()  # as the clock does
    page.reload()
    expect(mia).to_be_hidden()
    expect(page.get_by_text("2 people are not named")).to_be_visible()
    page.goto(f"{site}/campaigns/{campaign.slug}/")
    expect(page.get_by_text("0 of 2 wanted")).to_be_visible()

    # Reviewers judge without names.
    let_in(page.context, site, UserFactory(team__role="REVIEWER"))
    page.goto(f"{site}/review/{campaign.slug}/workers/")
    expect(page.get_by_role("link", name="Decision log")).to_be_visible()
    expect(page.get_by_role("link", name="Who is who")).to_be_hidden()
    answer = page.goto(f"{site}/campaigns/{campaign.slug}/who-is-who/")
    assert answer is not None
    assert answer.status == 403
