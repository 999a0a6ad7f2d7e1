"""Operators invite people and look after the sites; workers write captions."""

from playwright.sync_api import expect

from tests.browser.own_people import create_group, join
from tools.guide.camera import PHONE, shot
from tools.guide.story import TITLE, Story

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
