"""The sites whose pages are photographed: a copy of the demonstration; browsers, and the camera."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize

from hits.local import MANAGE, Installation, clean_environment, is_demonstration, manage

PASSWORD = re.compile(r"sign in as (\S+) with the password (\S+)")
VISITOR = re.compile(r"sign in as worker “visitor”: (\S+)()")
SECONDS = 180


@dataclass(frozen=True)
class Account:
    name: str
    password: str


@dataclass(frozen=True)
class Sites:
    """The two sites, the account of both, and the link that signs a worker in."""

    places: Installation
    researcher: Account
    visitor: str

    def manage(self, *arguments: str) -> str:
        """Run a command with the sites' databases and the requester's keys; return its output."""
        environment = self.places.environment()
        return manage(arguments, environment | self.places.keys(environment))

    def scenes(self) -> list[Path]:
        """The image files of the demonstration."""
        return sorted((self.places.folder / "dataset").rglob("*.jpg"))


@contextmanager
def demonstration(folder: Path, port: int) -> Iterator[Sites]:
    """Serve a copy of the demonstration, which is made in the folder if there is none."""
    original, copy = folder / "demo", folder / "served"
    said = folder / "demo.log"
    if not (is_demonstration(original) and PASSWORD.search(_read(said))):
        folder.mkdir(parents=True, exist_ok=True)
        said.write_text(
            _run("demo", "--out", str(original), *_ports(port, port + 1)), encoding="utf-8"
        )
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(original, copy)
    places = Installation(copy, port, port + 1).on_free_ports()
    ports = _ports(places.site_port, places.marketplace_port)
    with _served(["serve", "--demo", str(copy), *ports], copy / "serve.log") as printed:
        researcher = Account(*_found(PASSWORD, _read(said)))
        yield Sites(places, researcher, _found(VISITOR, printed)[0])


def _ports(site: int, marketplace: int) -> list[str]:
    return ["--port", str(site), "--marketplace-port", str(marketplace)]


def _run(*arguments: str) -> str:
    command = [sys.executable, str(MANAGE), *arguments]
    return subprocess.run(
        command, check=True, env=clean_environment({}), stdout=subprocess.PIPE, text=True
    ).stdout


@contextmanager
def _served(arguments: Sequence[str], log: Path) -> Iterator[str]:
    """Run `serve`; yield what it prints up to the line that says how to stop it."""
    command = [sys.executable, "-u", str(MANAGE), *arguments]
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(command, env=clean_environment({}), stdout=out)
    try:
        end = time.monotonic() + SECONDS
        while "Stop with" not in (printed := _read(log)):
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"`serve` did not start. It printed:\n{printed}")
            time.sleep(0.2)
        yield printed
    finally:
        process.terminate()
        process.wait(SECONDS)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _found(pattern: re.Pattern[str], text: str) -> tuple[str, str]:
    match = pattern.search(text)
    if match is None:
        raise RuntimeError(f"No line has the form {pattern.pattern!r} in:\n{text}")
    return match[1], match[2]


DESKTOP, PHONE = (1200, 760), (390, 760)
MOST_BYTES = 120_000
GAP = 24
BACKGROUND = "#d9dedc"


class Camera:
    """Writes pictures into a folder, and remembers their names."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.taken: list[str] = []

    def take(self, name: str, page: Page, *, height: int = DESKTOP[1], top: str = "") -> None:
        """Take the page's upper part, or the part of this height that begins at an element."""
        self._write(name, shot(page, height, page.locator(top).first if top else None))

    def side_by_side(self, name: str, shots: Sequence[Image.Image]) -> None:
        """Put pictures of a phone beside each other."""
        width = sum(one.width for one in shots) + GAP * (len(shots) + 1)
        whole = Image.new("RGB", (width, max(one.height for one in shots) + 2 * GAP), BACKGROUND)
        left = GAP
        for one in shots:
            whole.paste(one, (left, GAP))
            left += one.width + GAP
        self._write(name, whole)

    def _write(self, name: str, picture: Image.Image) -> None:
        path = self.folder / f"{name}.webp"
        for quality in (82, 70, 55):
            picture.save(path, quality=quality, method=6)
            if path.stat().st_size <= MOST_BYTES:
                break
        else:
            raise RuntimeError(f"{path.name} has more than {MOST_BYTES:,} bytes")
        self.taken.append(path.name)
        print(f"{path.stat().st_size / 1000:6.1f} kB  {path.name}", flush=True)


def shot(page: Page, height: int, top: Locator | None = None) -> Image.Image:
    """The picture of a page as wide as its window, once its images are there and nothing moves."""
    size = page.viewport_size
    assert size is not None
    page.set_viewport_size({"width": size["width"], "height": height})
    page.evaluate("document.activeElement?.blur()")
    if top is None:
        page.evaluate("scrollTo(0, 0)")
    else:
        top.evaluate("one => scrollTo(0, one.getBoundingClientRect().top + scrollY - 16)")
    page.wait_for_load_state("networkidle")
    picture = Image.open(BytesIO(page.screenshot(animations="disabled", caret="hide")))
    return picture.convert("RGB")


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
        """A page of the marketplace, whose operator has signed in at the requester site."""
        page = self.researcher()
        page.goto(f"{self.sites.places.marketplace_url}/operator/people")
        page.get_by_role("link", name="Sign in at Caption campaigns").click()
        page.get_by_role("navigation").get_by_role("link", name="Own people").wait_for()
        return page

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
