"""From photographs in a folder to a selection of them, in the browser."""

from pathlib import Path

import pytest
from django.utils import timezone
from PIL import Image as Picture
from playwright.sync_api import Page, expect

from accounts.services.teams import first_team
from annotate.models import Image, Selection
from tests.accessibility import violations_in_both_schemes
from tests.browser.conftest import DESKTOP, PHONE, keep_picture, let_in
from tests.factories import BoxFactory, ClassFactory, ImageFactory, SelectionFactory, UserFactory
from tests.jobs import run_jobs

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def folders(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.UPLOAD_ROOT = tmp_path / "uploads"


@pytest.fixture
def signed_in(page: Page, site: str) -> Page:
    let_in(page.context, site, UserFactory(is_staff=True, is_superuser=True))
    return page


def photograph(path: Path, color: str = "seagreen") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Picture.new("RGB", (640, 480), color).save(path)
    return path


def run_and_open_result(page: Page) -> None:
    """Run the job whose page is open, wait until the page says so, and open the result."""
    run_jobs()
    page.get_by_role("link", name="Open result").click()


def test_photographs_are_uploaded_picked_and_selected(signed_in: Page, site: str, tmp_path):
    page = signed_in
    first = photograph(tmp_path / "صورة.png")
    second = photograph(tmp_path / "🐕 park.png", "tomato")

    page.goto(f"{site}/images/")
    page.get_by_role("link", name="Import images").click()
    page.get_by_label("Name of these photographs").fill("trip")
    page.get_by_label("Photographs, or a ZIP file of them").set_input_files([first, second])
    expect(page.get_by_text("2 files, 0.0 MB")).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_url("**/jobs/**")
    page.reload()
    run_and_open_result(page)
    page.get_by_role("checkbox", name="🐕 park.png").check()
    page.get_by_role("button", name="Pick ticked images").click()
    page.get_by_role("link", name="Make a selection of them").click()
    page.get_by_label("Name").fill("dogs")
    page.get_by_role("button", name="Make selection").click()

    expect(page.get_by_role("heading", name="dogs")).to_be_visible()
    assert set(Image.objects.values_list("file_name", flat=True)) == {"صورة.png", "🐕 park.png"}
    assert Selection.objects.get().images.get().file_name == "🐕 park.png"


def test_a_folder_is_uploaded_with_its_subfolders(signed_in: Page, site: str, tmp_path):
    page = signed_in
    photograph(tmp_path / "trip" / "day 1" / "a.png")
    photograph(tmp_path / "trip" / "day 2" / "a.png", "tomato")

    page.goto(f"{site}/images/import/")
    page.get_by_label("Name of these photographs").fill("trip")
    page.locator("[data-folder]").set_input_files(tmp_path / "trip")
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_url("**/jobs/**")
    run_and_open_result(page)

    expect(page.get_by_role("checkbox")).to_have_count(2)
    names = set(Image.objects.values_list("file_name", flat=True))
    assert names == {"trip/day 1/a.png", "trip/day 2/a.png"}


def test_errors_of_an_upload_are_shown_beside_the_button(signed_in: Page, site: str, tmp_path):
    ImageFactory(split="taken", team=first_team(at=timezone.now()))
    page = signed_in
    page.goto(f"{site}/images/import/")
    page.get_by_label("Name of these photographs").fill("taken")
    page.get_by_label("Photographs, or a ZIP file of them").set_input_files(
        photograph(tmp_path / "a.png")
    )
    page.get_by_role("button", name="Import", exact=True).click()

    expect(page.locator("[data-state]")).to_contain_text("has images of Open Images")
    expect(page.get_by_role("button", name="Import", exact=True)).to_be_enabled()
    assert Image.objects.count() == 1


@pytest.fixture
def examples(tmp_path) -> int:
    """Images with boxes and long names, in a selection; the key of one of them."""
    colors = ["seagreen", "tomato", "slateblue", "goldenrod", "teal"]
    images = []
    for number, color in enumerate(colors):
        name = f"trip/day {number}/a photograph with a rather long name.png"
        photograph(tmp_path / "media" / "images" / "trip" / f"{number}.png", color)
        image = ImageFactory(
            source="OWN",
            file_name=name,
            sha256=str(number),
            split="trip",
            file=f"images/trip/{number}.png",
            width=640,
            height=480,
            author="Ada",
            license_url="https://creativecommons.org/licenses/by/4.0/",
        )
        images.append(image)
    BoxFactory(image=images[0], object_class=ClassFactory(name="Dog"))
    BoxFactory(image=images[0], object_class=ClassFactory(name="Ball"), x_min=0.5, x_max=0.9)
    SelectionFactory(name="trip", split="trip", count=5, images=images)
    return int(images[0].pk)


PAGES = [
    "/images/",
    "/images/{image}/",
    "/images/import/",
    "/images/selections/",
    "/images/selections/new/",
    "/images/selections/pools/?split=trip",
    "/images/selections/of/trip/?pools=1",
]


def test_the_pages_are_accessible_and_fit_the_screen(
    signed_in: Page, site: str, examples: int
) -> None:
    page = signed_in
    for address in PAGES:
        page.goto(site + address.format(image=examples))
        for details in page.locator("details").all():
            details.evaluate("element => { element.open = true; }")
        name = address.strip("/").replace("/", "-").split("?")[0]
        for size in (PHONE, DESKTOP):
            page.set_viewport_size(size)
            keep_picture(page, f"{name}-{size['width']}")
            found = violations_in_both_schemes(page)
            assert not found, f"{address}: {found}"
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= size["width"], address
