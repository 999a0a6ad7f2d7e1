"""What the pictures need in common: the sites, a browser for each person, and the camera."""

from dataclasses import dataclass

from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

from tools.guide.camera import DESKTOP, PHONE, Camera
from tools.guide.sites import Account, Sites

# A campaign that the demonstration leaves as a draft, and how many of its captions are written.
PILOT, WRITTEN = "unprimed-pilot", 95
# The campaign that the researcher makes, and its number of images.
OWN, TITLE = "my-photos", "Describe my photographs"
SCENES = 6
# Longer than any step takes on a slow machine.
MILLISECONDS = 60_000


@dataclass(frozen=True)
class Story:
    sites: Sites
    browser: Browser
    camera: Camera

    def desktop(self) -> Page:
        return self._page(self.browser.new_context(viewport=_size(DESKTOP)))

    def phone(self) -> Page:
        context = self.browser.new_context(viewport=_size(PHONE), has_touch=True, is_mobile=True)
        return self._page(context)

    def researcher(self) -> Page:
        """A page of the requester site, whose user has signed in."""
        page = self.desktop()
        page.goto(self.sites.places.site_url)
        return _signed_in(page, "Username", self.sites.researcher)

    def operator(self) -> Page:
        """A page of the marketplace, whose operator has signed in."""
        page = self.desktop()
        page.goto(f"{self.sites.places.marketplace_url}/operator/people")
        return _signed_in(page, "Name", self.sites.operator)

    def open(self, page: Page, path: str) -> None:
        page.goto(f"{self.sites.places.site_url}/{path}")

    def _page(self, context: BrowserContext) -> Page:
        context.set_default_timeout(MILLISECONDS)
        return context.new_page()


def _size(size: tuple[int, int]) -> ViewportSize:
    return {"width": size[0], "height": size[1]}


def _signed_in(page: Page, label: str, account: Account) -> Page:
    page.get_by_label(label).fill(account.name)
    page.get_by_label("Password").fill(account.password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Password").wait_for(state="detached")
    return page
