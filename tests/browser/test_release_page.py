"""The page of a release: the table of formats, and downloads."""

import os
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from annotate.services.releases import freeze
from tests.accessibility import violations_in_both_schemes
from tests.browser.conftest import DESKTOP, PHONE
from tests.factories import (
    NOON,
    CampaignFactory,
    ImageFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def release_page(page: Page, site: str) -> Page:
    """The page of a release, opened by a signed-in researcher."""
    campaign = CampaignFactory(slug="scenes", config={"references": 2})
    for number in (1, 2):
        task = TaskFactory(campaign=campaign, number=number, image=ImageFactory(url=""))
        ResponseFactory.create_batch(3, task=task)
    freeze(campaign=campaign, name="v1", seed=1, at=NOON)
    client = Client()
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site}
    page.context.add_cookies([cookie])
    page.goto(f"{site}/releases/v1/")
    return page


def test_an_archive_is_downloaded_by_its_link(release_page: Page, tmp_path: Path) -> None:
    with release_page.expect_download() as download:
        release_page.get_by_role("link", name="v1-csv.zip").click()

    assert download.value.suggested_filename == "v1-csv.zip"
    with ZipFile(BytesIO(Path(download.value.path()).read_bytes())) as archive:
        assert archive.testzip() is None
        assert "v1/captions.csv" in archive.namelist()


@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_the_formats_are_accessible_and_fit_the_screen(release_page: Page, size) -> None:
    release_page.set_viewport_size(size)

    expect(release_page.get_by_role("region", name="For other tools")).to_be_visible()
    if folder := os.environ.get("SCREENSHOTS"):
        name = f"release-{size['width']}.png"
        release_page.screenshot(path=Path(folder) / name, full_page=True)
    assert violations_in_both_schemes(release_page) == []
    width = release_page.evaluate("document.documentElement.scrollWidth")
    assert width <= size["width"]
