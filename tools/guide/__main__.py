"""Take the pictures of the user guide: `python -m tools.guide`.

Makes the demonstration if there is none yet, serves a copy of it, and drives Chromium through what
a researcher, a reviewer, an operator and a worker do. The pages in `docs/` show the pictures.
"""

import argparse
import os
import re
import shutil
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from hits.local import SITE_PORT
from tests.browser.own_people import create_group, join
from tools.guide.sites import (
    MILLISECONDS,
    OWN,
    PHONE,
    PILOT,
    SCENES,
    TITLE,
    WRITTEN,
    Camera,
    Story,
    demonstration,
    shot,
)

ROOT = Path(__file__).resolve().parents[2]
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
    expect(page.get_by_role("checkbox")).to_have_count(SCENES)
    take("images", page, height=700)
    page.get_by_role("button", name=f"New campaign with these {SCENES} images").click()
    page.get_by_role("button", name="Other task or settings …").click()
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
    page.get_by_label("One more caption for each image").check()
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
        expect(
            counted.or_(page.get_by_role("heading", name="All required checks are done"))
        ).to_be_visible()
    story.open(page, f"campaigns/{OWN}/")
    page.get_by_role("link", name="Create a release").first.click()
    page.get_by_label("Name").fill(f"{OWN}-v1")
    page.get_by_role("button", name="Create release").click()
    page.get_by_role("link", name=f"{OWN}-v1-coco.zip").wait_for()
    take("release", page, height=800)
    page.context.close()


JUDGED = 12


def review(story: Story) -> None:
    page, take = story.researcher(), story.camera.take
    story.open(page, f"review/{PILOT}/")
    for _ in range(JUDGED):
        _judge(page)
    take("review", page, height=900)
    story.open(page, f"review/{PILOT}/quality/")
    take("quality", page, height=900)
    story.open(page, f"review/{PILOT}/workers/")
    page.locator("main .pseudonym").first.click()
    take("worker", page, height=900)
    page.context.close()


def _judge(page: Page) -> None:
    """Judge as the eye does: a list of keywords has commas and no verb."""
    key = page.locator("[data-review]").get_attribute("data-key")
    text = page.locator("[data-review-focus]").inner_text()
    for pressed in ("b", "1") if text.count(",") > 2 else ("g",):
        page.keyboard.press(pressed)
    page.locator(f'[data-review]:not([data-key="{key}"])').wait_for()


# Nobody signs in with it: the sites end with the pictures.
PASSWORD = "a long password of the guide"
JOINING = {"researcher": "researcher-1", "reviewer": "reviewer-1"}


def gather(story: Story) -> None:
    page = story.researcher()
    for role, name in JOINING.items():
        _join(story.desktop(), _invite(page, story, role, f"{role}s of the course"), name)
    _invite(page, story, "viewer", "the ethics board")
    story.open(page, "account/team/")
    story.camera.take("team", page, height=900)
    page.context.close()


def _invite(page: Page, story: Story, role: str, whom: str) -> str:
    """Invite somebody; return the link."""
    story.open(page, "account/team/")
    page.get_by_label("Role", exact=True).select_option(label=role)
    page.get_by_label("Whom it is for").fill(whom)
    page.get_by_role("button", name="Create invitation").click()
    return page.locator(".token").inner_text()


def _join(page: Page, link: str, name: str) -> None:
    page.goto(link)
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create account and join").click()
    expect(page.get_by_text(name).first).to_be_visible()
    page.context.close()


GROUP = "Photographs"
# The pictures' subjects, in the order that the demonstration's seed gives.
ON_PHONE = "A girl waves in the snow between a small house and a street lamp."
ON_DESKTOP = (
    "Two girls wait with two boys at a street, where a yellow car stands at a traffic light."
)


def invite(story: Story) -> str:
    """Create a group of people with the campaign's tasks; return its link."""
    page, take = story.operator(), story.camera.take
    link = create_group(page, GROUP, TITLE, 6)
    page.goto(page.url)
    take("group", page, height=820)
    page.context.close()
    return link


def work(story: Story, link: str) -> None:
    phone = story.phone()
    phone.goto(link)
    shots = [shot(phone, PHONE[1])]
    join(phone, link, "Guest 1")
    shots.append(shot(phone, PHONE[1]))
    phone.get_by_role("button", name="Start").tap()
    frame = phone.frame_locator("iframe")
    frame.get_by_label("Describe the image in one sentence").fill(ON_PHONE)
    shots.append(shot(phone, PHONE[1]))
    story.camera.side_by_side("phone", shots)
    frame.get_by_role("button", name="Submit").tap()
    expect(phone.get_by_text("Task 2 of 6")).to_be_visible()
    phone.get_by_role("button", name="Return").tap()
    expect(phone.get_by_role("heading", name="Hello Guest 1")).to_be_visible()
    phone.context.close()


def caption(story: Story, task: str) -> None:
    """A worker of the marketplace at work."""
    page = story.desktop()
    page.goto(story.sites.visitor)
    page.goto(task)
    page.get_by_role("button", name="Accept").first.click()
    field = page.frame_locator("iframe").get_by_label("Describe the image in one sentence")
    field.fill(ON_DESKTOP)
    story.camera.take("task-page", page, height=900)
    page.context.close()


def operate(story: Story) -> None:
    page, take = story.researcher(), story.camera.take
    story.open(page, "jobs/")
    take("jobs", page, height=620)
    page.context.close()
    page = story.operator()
    page.goto(f"{story.sites.places.marketplace_url}/operator/workers")
    take("operator-workers", page, height=700)
    page.context.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images", metavar="DIR")
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "guide", metavar="DIR", help="demonstration"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=SITE_PORT,
        help="port of the site, the next is the marketplace's",
    )
    asked = parser.parse_args()
    chromium = os.environ.get("CHROMIUM", "") or shutil.which("chromium")
    if not chromium:
        parser.error("Chromium is not installed (Debian's package is called chromium).")
    expect.set_options(timeout=MILLISECONDS)
    with demonstration(asked.work.resolve(), asked.port) as sites, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        story = Story(sites, browser, Camera(asked.out))
        make_campaign(story)
        work(story, invite(story))
        caption(story, publish_pilot(story))
        fill_pilot(story)
        watch(story)
        review(story)
        release(story)
        gather(story)
        operate(story)
        browser.close()
    print(f"{len(story.camera.taken)} pictures in {asked.out}")


if __name__ == "__main__":
    main()
