"""A reviewer judges captions, and looks at a worker and at the quality of the campaign."""

from playwright.sync_api import Page

from tools.guide.story import PILOT, Story

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
