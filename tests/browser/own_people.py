"""An operator, and people without any knowledge of marketplaces, in browsers."""

import re

from playwright.sync_api import Page, expect

# Mechanical Turk's terms, which people who come by a link must never meet.
TERMS = re.compile(r"\b(hits?|requesters?|assignments?|m?turk(er)?s?)\b", re.IGNORECASE)
# What people see and hear of a page: its title, its text, also folded, and labels.
WORDS = """() => [document.title, document.body.innerText,
  ...[...document.querySelectorAll("body details")].map((one) => one.textContent),
  ...[...document.querySelectorAll("*")].flatMap((one) =>
    ["aria-label", "alt", "placeholder", "title"].map((name) => one.getAttribute(name) ?? "")),
  ...[...document.querySelectorAll("input[type=submit]")].map((one) => one.value),
].join("\\n")"""
# The tabs of a campaign of own people.
TABS = ("Overview", "Images", "Review", "Quality", "Workers", "Pay", "Releases")
CONSENT = "You write sentences about photographs.\nYou may stop at any time."


def terms_in(page: Page) -> list[str]:
    """Mechanical Turk's terms on the page, in its address and in its frames."""
    texts = [page.url, *(frame.evaluate(WORDS) for frame in page.frames)]
    return [match[0] for text in texts for match in TERMS.finditer(text)]


def sign_operator_in(page: Page, url: str, password: str, name: str) -> None:
    page.goto(f"{url}/operator/people")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def create_group(page: Page, name: str, title: str, share: int) -> str:
    """Create a group with the tasks of this title on the operator's pages; return its link."""
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Organiser").fill("Dr. Example, University of Somewhere")
    page.get_by_label("Purpose").fill("We study how people describe photographs.")
    page.get_by_label("Contact").fill("lab@university.example")
    page.get_by_label("Consent text").fill(CONSENT)
    page.get_by_role("button", name="Create group").click()
    expect(page.get_by_text("Group created.")).to_be_visible()
    option = page.get_by_label("HITs").locator("option", has_text=title).first
    page.get_by_label("HITs").select_option(option.get_attribute("value"))
    page.get_by_label("Most tasks for each person").fill(str(share))
    page.get_by_role("button", name="Give tasks").click()
    expect(page.get_by_text("The group sees these tasks now.")).to_be_visible()
    return page.locator(".address").inner_text()


def join(page: Page, link: str, name: str) -> None:
    page.goto(link)
    page.get_by_label("I have read this and I agree").check()
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", name=f"Hello {name}")).to_be_visible()
