"""A researcher makes a campaign of photographs in a folder, watches one, and releases."""

import re

from playwright.sync_api import Page, expect

from tools.guide.story import OWN, PILOT, SCENES, TITLE, WRITTEN, Story

ROUNDS = 5


def publish_pilot(story: Story) -> str:
    """Publish the campaign that the demonstration leaves as a draft; return its task's address."""
    page = story.researcher()
    story.open(page, f"campaigns/{PILOT}/")
    _publish(page)
    task = page.get_by_role("link", name="Open as a worker").get_attribute("href") or ""
    page.context.close()
    return task


def fill_pilot(story: Story) -> None:
    """Let simulated workers write half of the captions."""
    page = story.researcher()
    story.open(page, f"campaigns/{PILOT}/")
    story.sites.manage("simulate_workers", PILOT, "--assignments", str(WRITTEN))
    expect(page.get_by_text(re.compile(f"{WRITTEN} of ")).first).to_be_visible()
    page.context.close()


def watch(story: Story) -> None:
    """The pages that show how a campaign is doing."""
    page, take = story.researcher(), story.camera.take
    story.open(page, f"campaigns/{PILOT}/")
    page.get_by_role("region", name="Next").wait_for()
    take("dashboard", page, height=900)
    story.open(page, f"campaigns/{PILOT}/responses/")
    take("captions", page)
    page.context.close()


def make_campaign(story: Story) -> None:
    """From photographs in a folder to a published campaign."""
    page, take = story.researcher(), story.camera.take
    story.open(page, "images/import/")
    page.get_by_label("Name of these photographs").fill(OWN)
    page.get_by_label("Photographs, or a ZIP file of them").set_input_files(
        story.sites.scenes()[:SCENES]
    )
    take("import", page, height=620)
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("link", name="Open result").click()
    expect(page.get_by_role("checkbox")).to_have_count(SCENES)
    take("images", page, height=700)
    page.get_by_role("button", name=f"New campaign with these {SCENES} images").click()
    _steps(page, story)
    _publish(page)
    expect(page.get_by_role("link", name="Open as a worker")).to_be_visible()
    take("published", page, height=700)
    page.context.close()


def _steps(page: Page, story: Story) -> None:
    take = story.camera.take
    page.get_by_label("Name", exact=True).fill(OWN)
    _proceed(page, "Images")
    page.get_by_label("Reference captions for each image").fill("2")
    _proceed(page, "Instructions")
    page.get_by_label("Title").fill(TITLE)
    page.frame_locator("iframe.of-preview").get_by_role("img").first.wait_for()
    take("step-instructions", page, height=900, top=".previews")
    _proceed(page, "Workers")
    page.get_by_label("My own people").check()
    expect(page.locator("#side").get_by_text("Everybody")).to_be_visible()
    take("step-workers", page, height=700)
    _proceed(page, "Reward and budget")
    page.get_by_label("Budget in US dollars").fill("10")
    _proceed(page, "Spot checks")
    _proceed(page, "Check and create")
    page.get_by_role("button", name="Create draft campaign").click()


def _proceed(page: Page, step: str) -> None:
    page.get_by_role("button", name=f"Continue: {step}").click()
    expect(page.get_by_role("heading", name=step, level=1)).to_be_visible()


def _publish(page: Page) -> None:
    page.get_by_role("link", name="Publish campaign").click()
    page.get_by_role("button", name="Publish campaign").click()
    expect(page.get_by_role("link", name="Open as a worker")).to_be_visible()


def _complete(page: Page, story: Story) -> None:
    """Let simulated workers write what is missing; places that were given up take more rounds."""
    for _ in range(ROUNDS):
        story.sites.manage("simulate_workers", OWN, "--workers", "8", "--careless", "0")
        story.sites.manage("sync", OWN)
        story.open(page, f"campaigns/{OWN}/")
        # An image may get a caption too many, so the number of captions does not tell.
        if page.get_by_text(re.compile(rf"\b{SCENES} of {SCENES}\b")).first.is_visible():
            return
    raise RuntimeError(f"{OWN} is not complete after {ROUNDS} rounds")


def release(story: Story) -> None:
    """Complete the campaign, and release it."""
    page, take = story.researcher(), story.camera.take
    _complete(page, story)
    story.open(page, f"review/{OWN}/")
    judged = 0
    while page.get_by_text(re.compile("required checks? left")).is_visible():
        page.get_by_role("button", name="Good").click()
        judged += 1
        counted = page.get_by_text(f"{judged} judged by you")
        expect(counted.or_(page.get_by_role("heading", name="No captions"))).to_be_visible()
    story.open(page, f"campaigns/{OWN}/")
    page.get_by_role("link", name="Create a release").first.click()
    page.get_by_label("Name").fill(f"{OWN}-v1")
    page.get_by_role("button", name="Create release").click()
    page.get_by_role("link", name="Open result").click()
    page.get_by_role("link", name=f"{OWN}-v1-coco.zip").wait_for()
    take("release", page, height=800)
    page.context.close()
