"""The page of a release: the table of formats, and downloads."""

from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect

from annotate.models import Release
from tests.accessibility import violations_in_both_schemes
from tests.browser.conftest import DESKTOP, PHONE, keep_picture, let_in
from tests.factories import (
    UserFactory,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def release_page(page: Page, site: str, release: Release) -> Page:
    """The page of a release, opened by a signed-in researcher."""
    let_in(page.context, site, UserFactory(is_staff=True, is_superuser=True))
    page.goto(f"{site}/releases/{release}/")
    return page


def test_an_archive_is_downloaded_by_its_link(release_page: Page, tmp_path: Path) -> None:
    with release_page.expect_download() as download:
        release_page.get_by_role("link", name="v1-csv.zip").click()

    assert download.value.suggested_filename == "v1-csv.zip"
    with ZipFile(BytesIO(Path(download.value.path()).read_bytes())) as archive:
        assert archive.testzip() is None
        assert "v1/captions.csv" in archive.namelist()


def test_the_formats_are_accessible_and_fit_the_screen(release_page: Page) -> None:
    for size in (PHONE, DESKTOP):
        release_page.set_viewport_size(size)

        expect(release_page.get_by_role("region", name="For other tools")).to_be_visible()
        keep_picture(release_page, f"release-{size['width']}")
        assert violations_in_both_schemes(release_page) == [], size
        width = release_page.evaluate("document.documentElement.scrollWidth")
        assert width <= size["width"]
