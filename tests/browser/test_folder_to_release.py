"""From ten photographs in a folder to a downloaded release, by the processes of `make serve` and
in the browser alone."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest
from PIL import Image as Picture
from PIL import ImageDraw
from playwright.sync_api import Browser, Download, Locator, Page, expect

from hits.local import MANAGE, Installation, clean_environment
from tests.browser.own_people import TABS, join
from tests.servers import free_port, running

pytestmark = pytest.mark.browser

NAMES = (
    "beach at sunset.jpg", "Garden gate.jpg", "dog, two balls.jpg", "IMG_0417.JPG", "château.jpg",
    "bridge_over_river.png", "صورة.jpg", "🐕 park.jpg", "kitchen.jpg", "snow.jpg",
)  # fmt: skip
THINGS = (
    "boat", "gate", "dog", "street", "castle", "bridge", "market", "park", "kitchen", "mountain",
)  # fmt: skip
# What campaigns of own people say nothing of.
TERMS = re.compile(r"\bHITs?\b|Mechanical Turk|\bAPI\b|local marketplace|[Aa]ssignments\b")


@dataclass(frozen=True)
class Served:
    """The output of `make serve`: the two sites, and the researcher's password."""

    site: str
    marketplace: str
    researcher: str


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """The processes of `make serve`, without any data."""
    places = Installation(tmp_path / "var", free_port(), free_port())
    ports = ["--port", str(places.site_port), "--marketplace-port", str(places.marketplace_port)]
    places.folder.mkdir()
    printed = tmp_path / "printed"
    command = [sys.executable, "-u", str(MANAGE), "serve", "--own", *ports]
    environment = clean_environment(places.environment())
    with running(command, printed, environment, MANAGE.parent) as process:
        said = "".join(until_it_runs(process, printed))
        [researcher] = re.findall(r"User name: admin, password: (\S+)", said)
        yield Served(places.site_url, places.marketplace_url, researcher)


def until_it_runs(process: "subprocess.Popen[bytes]", printed: Path) -> Iterator[str]:
    """The command's output up to the line that says how to stop it."""
    with printed.open() as lines:
        line = ""
        while not line.startswith("Stop with"):
            assert process.poll() is None, printed.read_text()
            yield (line := lines.readline())


@pytest.fixture
def photographs(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "photographs"
    folder.mkdir()
    return [drawn(folder / name, number) for number, name in enumerate(NAMES)]


def drawn(path: Path, number: int) -> Path:
    """A picture that looks like no other."""
    picture = Picture.new("RGB", (640, 480), (40 + 20 * number, 120, 180))
    ImageDraw.Draw(picture).ellipse((30 * number, 100, 30 * number + 200, 300), "goldenrod")
    picture.save(path)
    return path


class Researcher:
    """Clicks as a researcher does, and counts the clicks; choosing files is one."""

    # Without those on verdicts, whose number depends on the random sample.
    clicks = 0

    def __init__(self, page: Page) -> None:
        self.page, self.terms = page, list[str]()

    def press(self, name: str) -> None:
        self._click(self.page.get_by_role("button", name=name, exact=True))

    def follow(self, name: str, *, within: str = "") -> None:
        place = self.page.get_by_role("region", name=within) if within else self.page
        self._click(place.get_by_role("link", name=name, exact=True).first)

    def choose(self, label: str, files: list[Path]) -> None:
        self.page.get_by_label(label).set_input_files(files)
        self.clicks += 1

    def look(self) -> None:
        """Search the page for terms, also in what is folded."""
        self.terms += TERMS.findall(self.page.locator("main").text_content() or "")

    def _click(self, target: Locator) -> None:
        self.look()
        target.click()
        self.clicks += 1


def test_ten_photographs_become_a_release_in_the_browser_alone(
    browser: Browser, page: Page, phone: Page, served: Served, photographs: list[Path]
) -> None:
    researcher = Researcher(page)
    sign_in(researcher, served)
    import_photographs(researcher, photographs)
    make_campaign(researcher, "holiday")
    publish(researcher)
    join(phone, invite(researcher), "first annotator")
    expect(page.get_by_text("1 person has joined")).to_be_visible(timeout=30_000)
    researcher.follow("Overview")
    caption_all(phone)
    review_required(researcher)
    captions = json.loads(release(researcher, "holiday-v1").path().read_text())
    # The walk of docs/tutorial.md. More clicks are more to guess.
    assert researcher.clicks == 13
    look_at_tabs(researcher, served)
    assert researcher.terms == []

    with ZipFile(archive_with_images(page).path()) as archive:
        assert archive.testzip() is None
        assert json.loads(archive.read("holiday-v1/captions.json")) == captions
        copied = [each for each in archive.namelist() if each.startswith("holiday-v1/images/")]
    assert len(copied) == len(NAMES)
    assert sorted(image["file_name"] for image in captions["images"]) == sorted(NAMES)
    assert sorted(each["caption"] for each in captions["annotations"]) == sorted(
        map(sentence, THINGS)
    )
    assert {each["image_id"] for each in captions["annotations"]} == set(range(1, 11))


def sign_in(researcher: Researcher, served: Served) -> None:
    page = researcher.page
    page.goto(served.site)
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(served.researcher)
    researcher.press("Sign in")
    expect(page.get_by_role("heading", name="No campaigns yet")).to_be_visible()


def import_photographs(researcher: Researcher, photographs: list[Path]) -> None:
    """The page of the photographs opens by itself when they are imported."""
    page = researcher.page
    researcher.follow("Import images")
    page.get_by_label("Name of these photographs").fill("holiday")
    researcher.choose("Photographs, or a ZIP file of them", photographs)
    researcher.press("Import")
    expect(page.get_by_role("checkbox")).to_have_count(len(NAMES))
    expect(page.get_by_text("10 images imported, 0 were there already.")).to_be_visible()


def make_campaign(researcher: Researcher, name: str) -> None:
    page = researcher.page
    researcher.press(f"New campaign with these {len(NAMES)} images")
    expect(page.get_by_label("Name", exact=True)).to_have_value(name)
    page.get_by_label("Captions for each image").fill("1")
    researcher.press("Create campaign")


def publish(researcher: Researcher) -> None:
    expect(researcher.page.get_by_role("heading", name="Publish holiday")).to_be_visible()
    researcher.press("Publish campaign")


def invite(researcher: Researcher) -> str:
    """The link by which people join, made on the page that follows."""
    page = researcher.page
    researcher.press("Make the link")
    expect(page.get_by_text("Only this computer can open this link.")).to_be_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.locator("section a code").inner_text()
    assert page.evaluate("navigator.clipboard.readText()") == link
    return link


def caption_all(phone: Page) -> None:
    phone.get_by_role("button", name="Start").tap()
    for number, thing in enumerate(THINGS, start=1):
        expect(phone.get_by_text(f"Task {number} of {len(NAMES)}")).to_be_visible()
        frame = phone.frame_locator("iframe")
        frame.get_by_label("Describe the image in one sentence").fill(sentence(thing))
        frame.get_by_role("button", name="Submit").tap()
    expect(phone.get_by_text(f"You have done all {len(NAMES)} tasks. Thank you!")).to_be_visible()


def sentence(thing: str) -> str:
    return f"A large {thing} stands beside a yellow sun under a clear sky."


def review_required(researcher: Researcher) -> None:
    """Judge what has to be judged before a release; the overview shows that all captions came."""
    page = researcher.page
    expect(page.get_by_text("10 of 10").first).to_be_visible()
    researcher.follow("Review", within="Next")
    judged = 0
    while page.get_by_text(re.compile("required checks? left")).is_visible():
        page.get_by_role("button", name="Good").click()
        judged += 1
        counted = page.get_by_text(f"{judged} judged by you")
        ended = page.get_by_role("heading", name="All required checks are done")
        expect(counted.or_(ended)).to_be_visible()


def release(researcher: Researcher, name: str) -> Download:
    """The page of the release opens by itself when it is made."""
    page = researcher.page
    researcher.follow("Create a release")
    expect(page.get_by_label("Name")).to_have_value(name)
    researcher.press("Create release")
    with page.expect_download() as download:
        researcher.follow("Download captions.json")
    return download.value


def look_at_tabs(researcher: Researcher, served: Served) -> None:
    """Look at each tab of the campaign and at the jobs; return to the release."""
    page = researcher.page
    release = page.url
    tabs = page.get_by_role("navigation", name=re.compile("^Campaign ")).get_by_role("link")
    assert tuple(tabs.all_inner_texts()) == TABS
    addresses = tabs.evaluate_all("links => links.map((link) => link.href)")
    for address in (*addresses, f"{served.site}/jobs/"):
        page.goto(address)
        researcher.look()
    page.goto(release)


def archive_with_images(page: Page) -> Download:
    page.get_by_label("image files").check()
    page.get_by_role("button", name="Create archive").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download file").click()
    return download.value
