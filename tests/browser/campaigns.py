"""Campaigns whose tasks the tests do in the marketplace's frame, and the answers to them."""

from collections.abc import Mapping

from playwright.sync_api import FrameLocator, Page, expect

from annotate.kinds import KINDS
from annotate.kinds.campaign_files import parse_config
from annotate.models import Answer, Campaign, Image
from annotate.services.campaigns import create_campaign
from hits.models import TaskPage
from hits.reconcile.reconciler import reconcile
from tests.factories import (
    NOON,
    BoxFactory,
    CaptionSetFactory,
    ClassFactory,
    GivenCaptionFactory,
    LinkCampaignFactory,
    LinkTaskFactory,
    SelectionFactory,
    make_campaign,
)
from tests.jobs import run_jobs


def sources(image: Image, texts: Mapping[str, str]) -> list[dict[str, str]]:
    """A caption set for each text, with this caption of the image, as a campaign file names it."""
    for name, text in texts.items():
        GivenCaptionFactory(caption_set=CaptionSetFactory(name=name), image=image, text=text)
    return [{"name": name, "caption_set": name} for name in texts]


def draft(**values: object) -> Campaign:
    config = parse_config({"name": "campaign", "budget": "50.00", **values})
    return create_campaign(config=config, endpoint="local", at=NOON)


def run_sync(page: Page) -> None:
    """Run the jobs while a campaign's page shows its sync, and wait until the page has loaded
    itself anew, which would break off another navigation."""
    shown = page.locator("[data-sync-progress]:not([data-sync-progress=''])")
    expect(shown).to_be_visible()
    run_jobs()
    expect(shown).to_have_count(0)


def start(campaign: Campaign) -> Campaign:
    """The campaign with its HITs at the marketplace."""
    Campaign.objects.update(status="RUNNING")
    campaign.refresh_from_db()
    reconcile(campaign)
    return campaign


def open_group(page: Page, worker, campaign) -> FrameLocator:
    """Sign in and open the campaign's group; return the preview's frame."""
    page.goto(worker.sign_in_url)
    page.get_by_role("link", name=campaign.config.hit.title).click()
    return page.frame_locator("iframe")


def accept(page: Page, worker, campaign) -> FrameLocator:
    """Sign in and accept a HIT of the campaign; return its frame."""
    open_group(page, worker, campaign)
    page.get_by_role("button", name="Accept").first.click()
    page.wait_for_url("**/assignments/*")
    return page.frame_locator("iframe")


def stored() -> dict:
    """The answer: what the marketplace reported, or before that what the open page has stored."""
    if reported := Answer.objects.first():
        return reported.content
    page = TaskPage.objects.get()
    task = page.claims.get().task
    return KINDS[task.campaign.kind].read(task, page.fields)


def expect_submitted(page: Page) -> None:
    expect(page.get_by_text("Your answers were submitted").first).to_be_visible()


def _captions(title: str, image: Image, *, each: int = 1) -> Campaign:
    campaign = make_campaign(tasks=4, hit={"title": title, "images": each})
    for task in campaign.tasks.select_related("image"):
        Image.objects.filter(pk=task.image_id).update(
            file=image.file, width=image.width, height=image.height
        )
    return campaign


def of_kind(kind: str, title: str, image: Image) -> Campaign:
    """A draft about the image."""
    if kind == "correspondence":
        return _links(title, image)
    if kind in {"caption", "three captions"}:
        return _captions(title, image, each=3 if kind == "three captions" else 1)
    texts = sources(image, {name: f"A woman, by {name}." for name in ("people", "model")})
    BoxFactory(image=image, object_class=ClassFactory(name="Flag"))
    sections = {
        "rating": {"rating": {"sources": texts}},
        "preference": {"preference": {"sources": texts}},
        "refine": {"refine": {"draft_set": "model"}, "captions": {"least_words": 5}},
        "region": {},
        "rate first": {"captions": {"rate_first": "model"}},
        "paragraph": {"captions": {"style": "paragraph", "least_words": 5}},
    }
    selection = SelectionFactory(images=[image]).name
    kind_of_task = kind if kind in KINDS else "caption"
    return draft(kind=kind_of_task, selection=selection, hit={"title": title}, **sections[kind])


def _links(title: str, image: Image) -> Campaign:
    BoxFactory(image=image, object_class=ClassFactory(name="Suit"))
    campaign = LinkCampaignFactory(config={"hit": {"title": title}})
    text = "A woman in a space suit stands before flags."
    caption = GivenCaptionFactory(caption_set=campaign.caption_set, image=image, text=text)
    LinkTaskFactory(campaign=campaign, subject=caption)
    return campaign
