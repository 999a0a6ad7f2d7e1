"""A researcher invites a team, and two people join it."""

from playwright.sync_api import Page, expect

from tools.guide.story import Story

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
