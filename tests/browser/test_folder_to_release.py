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
from playwright.sync_api import Browser, Download, Page, expect

from hits.local.processes import MANAGE, Installation, clean_environment
from tests.browser.conftest import PHONE
from tests.browser.own_people import join
from tests.servers import free_port, running

pytestmark = pytest.mark.browser

NAMES = (
    "beach at sunset.jpg", "Garden gate.jpg", "dog, two balls.jpg", "IMG_0417.JPG", "château.jpg",
    "bridge_over_river.png", "صورة.jpg", "🐕 park.jpg", "kitchen.jpg", "snow.jpg",
)  # fmt: skip
THINGS = (
    "boat", "gate", "dog", "street", "castle", "bridge", "market", "park", "kitchen", "mountain",
)  # fmt: skip


@dataclass(frozen=True)
class Served:
    """What `make serve` printed: the two sites, and the researcher's password."""

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
    """What the command prints, up to the line that says how to stop it."""
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


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    yield context.new_page()
    context.close()


def test_ten_photographs_become_a_release_in_the_browser_alone(
    browser: Browser, page: Page, phone: Page, served: Served, photographs: list[Path]
) -> None:
    sign_in(page, served)
    import_photographs(page, photographs)
    page.get_by_role("button", name=f"New campaign with these {len(NAMES)} images").click()
    make_campaign(page, "holiday")
    publish(page)
    join(phone, invite(page), "first annotator")
    caption_all(phone)
    review_required(page)
    download = release(page, "holiday-v1")

    with ZipFile(download.path()) as archive:
        assert archive.testzip() is None
        captions = json.loads(archive.read("holiday-v1/captions.json"))
        copied = [each for each in archive.namelist() if each.startswith("holiday-v1/images/")]
    assert len(copied) == len(NAMES)
    assert sorted(image["file_name"] for image in captions["images"]) == sorted(NAMES)
    assert sorted(each["caption"] for each in captions["annotations"]) == sorted(
        map(sentence, THINGS)
    )
    assert {each["image_id"] for each in captions["annotations"]} == set(range(1, 11))


def sign_in(page: Page, served: Served) -> None:
    page.goto(served.site)
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(served.researcher)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="No campaigns yet")).to_be_visible()


def import_photographs(page: Page, photographs: list[Path]) -> None:
    page.get_by_role("link", name="Import images").click()
    page.get_by_label("Name of these photographs").fill("holiday")
    page.get_by_label("Photographs, or a ZIP file of them").set_input_files(photographs)
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("link", name="Open result").click()
    expect(page.get_by_role("checkbox")).to_have_count(len(NAMES))


def make_campaign(page: Page, name: str) -> None:
    page.get_by_label("Name", exact=True).fill(name)
    proceed(page, "Images")
    expect(page.get_by_label(name)).to_be_checked()
    page.get_by_label("Reference captions for each image").fill("1")
    page.get_by_label("One more caption for each image").uncheck()
    proceed(page, "Instructions")
    proceed(page, "Workers")
    page.get_by_label("My own people").check()
    proceed(page, "Reward and budget")
    page.get_by_label("Budget in US dollars").fill("5")
    proceed(page, "Spot checks")
    proceed(page, "Check and create")
    page.get_by_role("button", name="Create draft campaign").click()


def proceed(page: Page, step: str) -> None:
    page.get_by_role("button", name=f"Continue: {step}").click()
    expect(page.get_by_role("heading", name=step, level=1)).to_be_visible()


def publish(page: Page) -> None:
    page.get_by_role("link", name="Publish campaign").click()
    page.get_by_role("button", name="Publish campaign").click()
    expect(page.get_by_role("link", name="Open as a worker")).to_be_visible()


def invite(page: Page) -> str:
    """The link by which people join, made on the campaign's pages."""
    page.get_by_role("link", name="Invite people").click()
    page.get_by_role("button", name="Make the link").click()
    expect(page.get_by_alt_text("QR code of the link")).to_be_visible()
    link = page.locator("section a code").inner_text()
    page.get_by_role("link", name="Overview").click()
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


def review_required(page: Page) -> None:
    """Judge what has to be judged before a release; the overview shows that all captions came."""
    expect(page.get_by_text("10 of 10").first).to_be_visible()
    page.get_by_role("region", name="Next").get_by_role("link", name="Review").click()
    judged = 0
    while page.get_by_text(re.compile("required checks? left")).is_visible():
        page.get_by_role("button", name="Good").click()
        judged += 1
        counted = page.get_by_text(f"{judged} judged by you")
        ended = page.get_by_role("heading", name="All required checks are done")
        expect(counted.or_(ended)).to_be_visible()
    page.get_by_role("link", name="Back to overview").click()


def release(page: Page, name: str) -> Download:
    page.get_by_role("link", name="Create a release").first.click()
    expect(page.get_by_label("Name")).to_have_value(name)
    page.get_by_role("button", name="Create release").click()
    page.get_by_role("link", name="Open result").click()
    page.get_by_label("image files").check()
    page.get_by_role("button", name="Create archive").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download file").click()
    return download.value
