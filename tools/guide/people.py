"""Everybody but the researcher: operators invite people and look after the sites, members of a team
divide the work, workers write captions, and reviewers judge them."""

from playwright.sync_api import Page, expect

from tests.browser.own_people import create_group, join
from tools.guide.story import PHONE, PILOT, TITLE, Story, shot

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
# What the pictures show, whose order the demonstration's seed gives.
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
