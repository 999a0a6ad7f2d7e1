"""Lists as the requester site's style sheet shows them."""

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import PHONE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def style(page: Page, site: str, markup: str, selector: str, name: str) -> str:
    """The value that the style sheet gives the property of an element in the markup."""
    page.goto(f"{site}/sign-in/")
    page.evaluate("(markup) => { document.querySelector('main').innerHTML = markup }", markup)
    return page.locator(selector).evaluate("(one, name) => getComputedStyle(one)[name]", name)


def test_the_captions_of_a_comparison_have_the_letters_that_its_votes_name(page: Page, site: str):
    captions = '<ol class="captions" type="A"><li>A dog.</li></ol>'

    assert style(page, site, captions, "li", "listStyleType") == "upper-alpha"


def test_a_long_name_in_a_gallery_ends_with_an_ellipsis(page: Page, site: str):
    gallery = '<ol class="gallery"><li><p class="cut">0123456789</p></li></ol>'

    # Only a block cuts its text with an ellipsis.
    assert style(page, site, gallery, "p", "display") == "block"


LONG = "street_scenes_" * 7
LONG_NAMES = [
    f'<header class="campaign-header"><p class="name"><a href="/">{LONG}</a></p></header>',
    f'<div class="line"><h1>{LONG}</h1><span class="pill">Draft</span></div>',
    f'<ul><li class="line"><a href="/">{LONG}</a><button>Copy</button></li></ul>',
    f'<div class="heading"><h1>{LONG}</h1></div>',
    f'<div class="selections"><label class="option"><span>{LONG}</span></label></div>',
    f'<p class="figures"><span>{LONG}</span></p>',
    f'<fieldset><label class="choice"><input type="checkbox"> {LONG}</label></fieldset>',
    f'<table class="story"><tr><td class="when">2 Nov, 12:00</td><td>{LONG}</td></tr></table>',
    f'<div class="heading"><form class="actions"><select><option>{LONG}</select></form></div>',
]


def test_a_long_name_without_a_place_to_break_fits_a_phone(page: Page, site: str):
    page.set_viewport_size(PHONE)

    for markup in LONG_NAMES:
        style(page, site, markup, "main", "width")

        width = page.evaluate("document.documentElement.scrollWidth")
        assert width == PHONE["width"], markup


def test_a_button_below_its_field_on_a_phone_has_no_gap(page: Page, site: str):
    page.set_viewport_size(PHONE)
    markup = (
        '<form class="inline"><p class="field"><input></p><button>Add to budget</button></form>'
    )

    style(page, site, markup, "main", "width")

    field, button = (page.locator(each).bounding_box() for each in ("form .field", "form button"))
    assert 0 < button["y"] - field["y"] - field["height"] < 16


def test_a_number_of_a_tile_and_its_explanation_wrap_as_a_whole(page: Page, site: str):
    page.set_viewport_size(PHONE)
    number = "<dd>1,234 <small>of 396 wanted</small></dd>"
    tile = f'<dl class="tiles" style="width: 8.5rem"><div>{number}</div></dl>'

    height = style(page, site, tile, "small", "height")

    assert page.locator("small").evaluate("small => small.getClientRects().length") == 1
    assert float(height.removesuffix("px")) < 24
