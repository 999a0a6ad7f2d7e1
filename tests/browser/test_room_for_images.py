"""An image takes the same room before its file is there as after: nothing jumps."""

import time
from collections.abc import Iterator
from functools import cache
from io import BytesIO

import pytest
from django.urls import reverse
from PIL import Image as Picture
from playwright.sync_api import Page, Route

from annotate.models import Campaign, Image
from hits.services.messages import told_url
from qualcontrol.review.judging import judge
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.releasing import release_campaign
from tests.browser.campaigns import of_kind
from tests.browser.conftest import DESKTOP, PHONE
from tests.factories import (
    NOON,
    HitFactory,
    LinkResponseFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
    WorkerAccountFactory,
    make_campaign,
)
from tests.hits.opened_pages import address
from tests.servers import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDE, TALL, SMALL = (3000, 900), (900, 3000), (120, 90)
# Whatever a worker uses besides the image.
PLACES = """() => [...document.querySelectorAll(
    "textarea, input, button, blockquote, figcaption, li"
  )].filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect())
  .map(({ x, y }) => [Math.round(x), Math.round(y)])"""
SHIFTS = """
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifted += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
"""
# Until a shift would have been reported.
UNTIL_DRAWN = """new Promise((done) =>
  requestAnimationFrame(() => requestIdleCallback(() => setTimeout(done, 50))))"""


@cache
def picture_of(width: int, height: int) -> bytes:
    file = BytesIO()
    Picture.new("RGB", (width, height), "seagreen").save(file, "PNG")
    return file.getvalue()


def each_size(page: Page) -> Iterator[tuple[int, int]]:
    """Each size of the image, on each screen."""
    page.add_init_script(SHIFTS)
    for screen in (PHONE, DESKTOP):
        page.set_viewport_size(screen)
        yield from (WIDE, TALL, SMALL)


def expect_still(page: Page, address: str, size: tuple[int, int]) -> None:
    """Open the page, let the images arrive late, and expect everything where it was."""
    held: list[Route] = []
    page.route("**/media/**", lambda route: held.append(route))
    page.goto(address, wait_until="domcontentloaded")
    page.evaluate(UNTIL_DRAWN)
    wait_for(page, held)
    page.evaluate("shifted = 0")
    before = page.evaluate(PLACES)

    def deliver(route: Route) -> None:
        route.fulfill(body=picture_of(*size), content_type="image/png")

    page.route("**/media/**", deliver)
    for route in held:
        deliver(route)
    page.wait_for_function("[...document.images].every((image) => image.naturalWidth > 0)")
    page.evaluate(UNTIL_DRAWN)
    page.unroute("**/media/**")

    here = f"{address} on {page.viewport_size}, with an image of {size}"
    assert page.evaluate(PLACES) == before, here
    assert page.evaluate("shifted") == 0, here


def wait_for(page: Page, held: list[Route]) -> None:
    """Until the page has asked for an image."""
    end = time.monotonic() + PATIENCE
    while not held:
        assert time.monotonic() < end
        page.wait_for_timeout(10)


@pytest.mark.parametrize("kind", ["caption", "rate first", "rating", "correspondence", "region"])
def test_nothing_on_a_task_page_moves(page, site, photograph, title, kind):
    campaign = of_kind(kind, title, photograph)
    Campaign.objects.update(status="RUNNING")
    hit = HitFactory(hit_type__campaign=campaign)

    for size in each_size(page):
        Image.objects.update(file="images/astronaut.png", width=size[0], height=size[1])
        expect_still(page, site + address(hit, turkSubmitTo=None), size)


def test_nothing_on_the_page_about_a_workers_answers_moves(page, site, photograph):
    campaign = make_campaign(tasks=0, review={"tells_workers": True})
    response = ResponseFactory(task=TaskFactory(campaign=campaign, image=photograph))
    WorkerAccountFactory(worker=response.worker)
    judge(response=response, verdict="BAD", reason="a list", reviewer=UserFactory(), at=NOON)

    for size in each_size(page):
        expect_still(page, told_url(campaign, response.worker), size)


def test_nothing_on_the_reviewers_pages_moves(page, site, photograph, sign_in):
    campaign = make_campaign(tasks=0, review={"share": 1})
    response = ResponseFactory(task=TaskFactory(campaign=campaign, image=photograph))
    review_submitted(campaign=campaign, responses=[response], at=NOON)
    page_of_response = site + reverse("qualcontrol:response", args=[campaign.slug, response.pk])
    sign_in(UserFactory(is_superuser=True))

    for size in each_size(page):
        Image.objects.update(width=size[0], height=size[1])
        expect_still(page, site + reverse("qualcontrol:queue", args=[campaign.slug]), size)
        expect_still(page, page_of_response, size)


@pytest.mark.parametrize("kind", ["region", "correspondence"])
def test_nothing_moves_beside_an_image_with_outlines(page, site, photograph, title, sign_in, kind):
    campaign = of_kind(kind, title, photograph)
    make = LinkResponseFactory if kind == "correspondence" else ResponseFactory
    campaign.tasks.update(wanted=1, answers_missing=1, places_left=1)
    response = make(task=campaign.tasks.get())
    review_submitted(campaign=campaign, responses=[response], at=NOON)
    release = release_campaign(campaign=campaign, name="outlined", seed=1, at=NOON, partial=True)
    sign_in(UserFactory(is_superuser=True))

    places = (
        reverse("qualcontrol:response", args=[campaign.slug, response.pk]),
        reverse("qualcontrol:queue", args=[campaign.slug]),
        release.get_absolute_url(),
        reverse("hits:image", args=[campaign.slug, response.task.number]),
        reverse("images:image", args=[photograph.pk]),
    )
    for size in each_size(page):
        Image.objects.update(width=size[0], height=size[1])
        for place in places:
            expect_still(page, site + place, size)
            canvas, *above = (
                page.locator(f"figure:has(> canvas) > {part}").first.bounding_box()
                for part in ("canvas", "img", "svg")
            )
            assert above == [pytest.approx(canvas, abs=0.1)] * 2
