"""People's first hour, without guesses or waiting: names, errors, numbers, and no words of a
marketplace that they do not use."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from annotate.models import Campaign, CampaignDraft, Selection
from annotate.services.drafts import begin_draft
from qualcontrol.models import Gold
from qualcontrol.review.judging import judge
from tests.browser.campaigns import run_sync
from tests.browser.conftest import DESKTOP, PHONE, let_in
from tests.browser.own_people import TABS
from tests.factories import (
    CaptionSetFactory,
    GivenCaptionFactory,
    ImageFactory,
    ResponseFactory,
    SelectionFactory,
    UserFactory,
    WorkerAccountFactory,
    make_campaign,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# What campaigns of own people and of panels say nothing of if nobody is paid.
TERMS = re.compile(
    r"\bHITs?\b|\b[Aa]ssignments?\b|Mechanical Turk|\bAPI\b|local marketplace|\bFees of\b|\b20 ?%"
)
HREFS = "links => links.map((link) => link.href)"
ENGLISH_TITLE = "Describe a photograph in one sentence"


@pytest.fixture
def researcher(context: BrowserContext, site: str) -> User:
    """The user who is signed in."""
    user = UserFactory()
    let_in(context, site, user)
    return user


@pytest.fixture
def draft(researcher: User) -> Callable[..., CampaignDraft]:
    """Makes a draft about two images with these values of the campaign file."""

    def make(**values: Any) -> CampaignDraft:
        selection = SelectionFactory(images=2)
        file = {"name": "streets", "selection": selection.name, "budget": "50.00", **values}
        return begin_draft(owner=researcher, file=file, at=timezone.now())

    return make


def step_of(made: CampaignDraft, step: str) -> str:
    """The address of the step on the requester site."""
    return f"{settings.SITE_URL}/new/{made.pk}/steps/{step}/"


FAULTS = [  # of steps: label, entry, name
    ("task", "Name", "", "name"),
    ("images", "Reference captions for each image", "none", "references"),
    ("instructions", "Description in the marketplace's list", "", "hit__description"),
    ("reward", "Budget in US dollars", "much", "budget"),
    ("checks", "Share of all answers that a person checks", "200", "review__share"),
    ("short", "Budget in US dollars", "much", "budget"),
]


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_an_error_of_a_step_is_in_sight_at_its_field(page: Page, draft, size):
    page.set_viewport_size(size)

    for step, label, entry, name in FAULTS:
        page.goto(step_of(draft(), step))
        page.get_by_label(label).fill(entry)
        with page.expect_response(lambda answer: answer.status == 422):
            page.locator("#step-form .actions button").first.click()
        expect(page.locator(f"#id_{name}_error .error")).to_be_in_viewport()
        expect(page.get_by_label(label)).to_be_focused()


def test_an_error_of_a_name_is_in_sight_at_its_field_on_a_phone(page: Page, site, researcher):
    page.set_viewport_size(PHONE)
    SelectionFactory(name="streets", images=2)
    page.goto(f"{site}/images/selections/new/?split=validation")

    page.get_by_label("Name").fill("streets")
    page.get_by_role("button", name="Make selection").click()

    expect(page.locator(".field .error")).to_have_text(
        re.compile("^The selection 'streets' already exists")
    )
    expect(page.locator(".field .error")).to_be_in_viewport()
    expect(page.get_by_label("Name")).to_be_focused()


def test_any_name_is_taken_and_no_setting_of_nocaps_is_asked_for(page: Page, site, researcher):
    ImageFactory.create_batch(2, split="trip")
    page.goto(f"{site}/images/selections/new/")
    of_nocaps = [page.get_by_label(name) for name in ("Seed", "Number of images", "compared for")]
    expect(page.get_by_label("Name")).to_have_value("trip-some")
    for field in of_nocaps:
        expect(field).to_be_hidden()
    page.get_by_label("procedure of nocaps").check()
    for field in of_nocaps:
        expect(field).to_be_visible()

    page.get_by_label("all images").check()
    page.get_by_label("Name").fill("Châteaux & Gärten: 2026")
    page.get_by_role("button", name="Make selection").click()
    expect(page.get_by_role("heading", name="chateaux-garten-2026")).to_be_visible()
    page.get_by_role("button", name="New campaign with these images").click()
    expect(page.get_by_label("Name")).to_have_value("chateaux-garten-2026")
    page.get_by_label("Name").fill("قصور, Palaces!")
    page.get_by_role("button", name="Create campaign").click()

    expect(page.get_by_role("heading", name="Publish palaces")).to_be_visible()
    # How many people to invite, before anything is published.
    expect(page.get_by_text("Each image needs 3 different people.")).to_be_visible()
    expect(page.get_by_text("Invite at least 3 after publishing")).to_be_visible()
    assert Campaign.objects.get().selection == Selection.objects.get()


def dollars(text: str) -> list[Decimal]:
    return [Decimal(amount.replace(",", "")) for amount in re.findall(r"\$([\d,.]*\d)", text)]


def test_the_numbers_before_publishing_are_those_after_it(page: Page, site, draft):
    made = draft(languages=["en", "de"], hit={"images": 2}, workers={"who": "nocaps"})
    page.goto(step_of(made, "checklist"))
    facts = page.locator("dl.facts")
    cost, together = dollars(facts.get_by_text("with fees").inner_text())
    responses = re.search(r"\d+", facts.get_by_text("captions to 2 images").inner_text())
    page.get_by_role("button", name="Create draft campaign").click()
    expect(page.get_by_text("Nothing is published yet. Estimated")).to_be_visible()
    members = list(Campaign.objects.order_by("pk"))
    committed = Decimal(0)

    for campaign in members:
        page.goto(f"{site}/campaigns/{campaign.slug}/publish/")
        table = page.get_by_role("table", name="Cost of the whole campaign")
        hits = re.search(r"Assignments in (\d+) HIT\D*(\d+)", table.inner_text())
        total = table.get_by_role("row", name="Total").inner_text()
        all_languages = page.locator("tfoot").inner_text()
        page.get_by_role("button", name="Publish campaign").click()
        # A job opens the assignments now.
        expect(page.get_by_role("heading", name="Opening tasks")).to_be_visible()
        expect(page.get_by_text("Nothing is published yet")).to_be_hidden()
        run_sync(page)

        assert hits is not None
        opened = page.get_by_text(f"{hits[2]} open assignments in {hits[1]} HIT")
        expect(opened).to_be_visible()
        assert responses is not None
        expect(page.get_by_text(f"0 of {responses[0]} wanted")).to_be_visible()
        spent = dollars(page.get_by_role("row", name="Committed").inner_text())[0]
        assert dollars(total) == [cost] == [spent]
        assert dollars(all_languages)[0] == together
        committed += spent
    assert (len(members), committed) == (2, together)


def test_default_texts_are_in_the_campaigns_language(page: Page, draft):
    made = draft(language="de", hit={"title": ENGLISH_TITLE})
    page.goto(step_of(made, "checklist"))
    objection = page.get_by_text("The title is in English, and the campaign in German.")
    expect(objection).to_be_visible()

    objection.get_by_role("link", name="Instructions").click()
    expect(page.get_by_label("Description in the marketplace's list")).to_have_value(
        re.compile("^Sehen Sie sich ein Foto an")
    )
    page.get_by_label("Title").fill("Ein Foto in einem Satz beschreiben")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("link", name="Check and create").click()

    expect(page.get_by_text("Everything that is needed is there.")).to_be_visible()
    expect(objection).to_be_hidden()


@pytest.mark.parametrize("who", ["own", "panel"])
def test_seven_tabs_without_a_word_of_mechanical_turk(page: Page, site, researcher, who):
    campaign = make_campaign(
        tasks=1,
        status="DRAFT",
        references=1,
        workers={"who": who},
        hit={"reward": "0.00"},
    )
    Campaign.objects.update(budget=0)
    address = f"{site}/campaigns/{campaign.slug}/"
    page.goto(f"{address}publish/")
    terms = terms_on(page)
    page.get_by_role("button", name="Publish campaign").click()
    run_sync(page)
    response = ResponseFactory(task=campaign.tasks.get(), worker=WorkerAccountFactory().worker)
    judge(response=response, verdict="GOOD", reason="", reviewer=researcher, at=timezone.now())

    page.goto(address)
    tabs = page.get_by_role("navigation", name=f"Campaign {campaign.slug}").get_by_role("link")
    assert tuple(tabs.all_inner_texts()) == TABS
    waiting, seen = [*map(str, tabs.evaluate_all(HREFS))], set[str]()
    waiting += [f"{address}{name}/" for name in ("pause", "finish", "change")]
    while waiting:
        page.goto(waiting.pop())
        seen.add(page.url)
        terms += terms_on(page)
        inner = page.locator("nav.choices a").evaluate_all(HREFS)
        waiting += [each for each in inner if each not in {*seen, *waiting}]

    # With what is inside of four tabs.
    assert len(seen) == len(TABS) + 3 + {"own": 5, "panel": 4}[who]
    assert terms == []


def terms_on(page: Page) -> list[str]:
    """Mechanical Turk's terms, also in what is folded, and fees to nobody."""
    text = " ".join((page.locator("main").text_content() or "").split())
    return [f"{page.url}: {term}" for term in TERMS.findall(text)]


def test_sources_of_ratings_are_picked(page: Page, draft, release):
    made = draft(kind="rating")
    image = Selection.objects.get(name=made.file["selection"]).images.first()
    GivenCaptionFactory(caption_set=CaptionSetFactory(name="a model"), image=image)
    page.goto(step_of(made, "images"))

    page.get_by_label(f"{release}: references of the release").check()
    page.get_by_label("a model").check()
    page.get_by_role("button", name="Continue").click()

    expect(page.get_by_role("heading", name="Instructions", level=1)).to_be_visible()
    made.refresh_from_db()
    assert made.file["rating"]["sources"] == [
        {"name": "v1", "release": "v1"},
        {"name": "a-model", "caption_set": "a model"},
    ]


def test_gold_items_are_picked(page: Page, site, researcher):
    campaign = make_campaign(tasks=2, references=1)
    for number, task in enumerate(campaign.tasks.all(), start=1):
        response = ResponseFactory(task=task, text=f"A dog runs past fence number {number}.")
        judge(
            response=response, verdict="GOOD", reason="", reviewer=UserFactory(), at=timezone.now()
        )
    page.goto(f"{site}/review/{campaign.slug}/gold/")

    page.get_by_role("radio", name="A dog runs past fence number 2.").check()
    page.get_by_role("button", name="Add gold item").click()
    expect(page.get_by_role("region", name="Gold items").get_by_role("row")).to_have_count(2)
    page.get_by_role("group", name="Image", exact=True).get_by_role("radio").first.check()
    page.get_by_label("Caption", exact=True).fill("A photograph.")
    page.get_by_label("What is wrong with it").fill("says nothing")
    page.get_by_role("button", name="Add made-up caption").click()

    expect(page.get_by_role("region", name="Gold items").get_by_role("row")).to_have_count(3)
    assert {gold.text or gold.response.caption.text for gold in Gold.objects.all()} == {
        "A dog runs past fence number 2.",
        "A photograph.",
    }
