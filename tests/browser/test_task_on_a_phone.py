"""The task page on a phone: what is on the first screen, and the height of its frame."""

import pytest
from PIL import Image as Picture
from playwright.sync_api import Locator, Page, expect

from annotate.models import Image
from hits.reconcile.reconciler import reconcile
from tests.browser.campaigns import accept
from tests.browser.conftest import PHONE
from tests.factories import BoxFactory, ClassFactory, make_campaign

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SENTENCE = "A brown dog jumps over a low wooden fence in a garden."
TITLE = "Describe what you see in a photograph in one sentence"


@pytest.fixture
def campaign(site, picture, title):
    """A published campaign with an upright photograph and seven keywords for each image."""
    campaign = make_campaign(tasks=3, hit={"title": f"{TITLE}: {title}"[:120]})
    images = Image.objects.filter(tasks__campaign=campaign)
    images.update(**picture("rocket.jpg"), author="SpaceX")
    for task in campaign.tasks.select_related("image"):
        for name in ("Rocket", "Tower", "Tree", "Street light", "Building", "Palm tree", "Cloud"):
            of_task = ClassFactory(name=f"{name} {task.number}")
            BoxFactory(image=task.image, object_class=of_task)
    reconcile(campaign)
    return campaign


def is_on_first_screen(page: Page, part: Locator) -> bool:
    box = part.bounding_box()
    assert box is not None
    assert page.evaluate("scrollY") == 0
    return box["y"] >= 0 and box["y"] + box["height"] <= PHONE["height"]


def test_image_and_field_are_on_the_first_screen_from_the_first_task_on(phone, worker, campaign):
    frame = accept(phone, worker, campaign)
    for _ in range(2):
        image = frame.get_by_role("img", name="The image to describe")
        field = frame.get_by_label("Describe the image in one sentence")
        expect(phone.locator("iframe.fitted")).to_be_visible()

        assert is_on_first_screen(phone, image)
        assert is_on_first_screen(phone, field)

        field.fill(SENTENCE)
        frame.get_by_role("button", name="Submit").click()
        expect(phone.get_by_text("Your answers were submitted").first).to_be_visible()
        phone.get_by_role("button", name="Accept the next HIT").click()
        phone.wait_for_url("**/assignments/*")


def test_the_instructions_open_by_themselves_in_the_first_hit_alone(phone, worker, campaign):
    frame = accept(phone, worker, campaign)
    instructions = frame.get_by_text("Leave out details that are not important.")
    expect(phone.locator("iframe.fitted")).to_be_visible()

    frame.get_by_role("link", name="instructions").click()
    expect(instructions).to_be_in_viewport()
    frame.get_by_label("Describe the image in one sentence").fill(SENTENCE)
    frame.get_by_role("button", name="Submit").click()
    phone.get_by_role("button", name="Accept the next HIT").click()

    expect(frame.get_by_role("img", name="The image to describe")).to_be_visible()
    expect(instructions).to_be_hidden()
    frame.get_by_text("How to write a good caption").click()
    expect(instructions).to_be_in_viewport()


def test_nothing_scrolls_inside_the_frame(phone, worker, campaign):
    accept(phone, worker, campaign)
    expect(phone.locator("iframe.fitted")).to_be_visible()
    task = phone.frames[1]

    phone.wait_for_function(
        "() => document.querySelector('iframe').clientHeight > window.innerHeight"
    )
    task.wait_for_function("() => document.documentElement.scrollHeight <= innerHeight")
    height = phone.locator("iframe").evaluate("frame => frame.clientHeight")
    # The frame follows the page in both directions.
    task.get_by_text("How to write a good caption").click()
    phone.wait_for_function(
        "height => document.querySelector('iframe').clientHeight < height", arg=height
    )
    task.wait_for_function("() => document.documentElement.scrollHeight <= innerHeight")


def test_the_task_has_one_visible_title(phone, worker, campaign):
    frame = accept(phone, worker, campaign)

    expect(phone.get_by_role("heading", level=1)).to_have_text(campaign.config.hit.title)
    title = frame.get_by_role("heading", name=campaign.config.hit.title)
    box = title.bounding_box()
    assert box is not None
    assert box["height"] <= 1


def test_a_marketplace_that_ignores_the_messages_gets_a_page_that_scrolls(phone, worker, campaign):
    # The marketplace's own script is missing, as every other marketplace lacks it.
    phone.route("**/static/marketplace/*.js", lambda route: route.abort())
    frame = accept(phone, worker, campaign)
    image = frame.get_by_role("img", name="The image to describe")
    field = frame.get_by_label("Describe the image in one sentence")

    expect(image).to_be_visible()
    assert is_on_first_screen(phone, image)
    assert is_on_first_screen(phone, field)
    assert phone.evaluate("document.documentElement.scrollHeight") <= PHONE["height"]
    expect(frame.get_by_role("button", name="Submit")).to_be_in_viewport()


def test_messages_from_elsewhere_do_not_move_the_frame(phone, worker, campaign):
    accept(phone, worker, campaign)
    expect(phone.locator("iframe.fitted")).to_be_visible()
    phone.frames[1].wait_for_function("() => document.documentElement.scrollHeight <= innerHeight")
    height = phone.locator("iframe").evaluate("frame => frame.clientHeight")

    phone.evaluate("postMessage({ type: 'marketplace:height', height: 9000 }, '*')")
    for odd in ("'9000'", "NaN", "{}", "null"):
        phone.frames[1].evaluate(
            f"parent.postMessage({{ type: 'marketplace:height', height: {odd} }}, '*')"
        )
    phone.evaluate("() => new Promise((done) => setTimeout(done))")

    assert phone.locator("iframe").evaluate("frame => frame.clientHeight") == height


@pytest.mark.parametrize(("screen", "size"), [("phone", "middle"), ("page", "copies")])
def test_a_small_screen_loads_a_smaller_copy(request, worker, campaign, settings, screen, size):
    large = Picture.new("RGB", (3000, 2000), "seagreen")
    large.save(settings.MEDIA_ROOT / "images" / "large.jpg")
    Image.objects.update(file="images/large.jpg", width=3000, height=2000)

    frame = accept(request.getfixturevalue(screen), worker, campaign)
    image = frame.get_by_role("img", name="The image to describe")
    expect(image).to_be_visible()
    loaded = image.evaluate("async image => { await image.decode(); return image.currentSrc }")

    assert f"/media/{size}/" in loaded
