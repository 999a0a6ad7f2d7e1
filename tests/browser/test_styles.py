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


@pytest.mark.parametrize(
    "markup",
    [
        '<header class="campaign-header"><p class="name"><a href="/">{name}</a></p></header>',
        '<div class="line"><h1>{name}</h1><span class="pill">Draft</span></div>',
        '<ul><li class="line"><a href="/">{name}</a><button>Copy</button></li></ul>',
        '<div class="heading"><h1>{name}</h1></div>',
        '<div class="selections"><label class="option"><span>{name}</span></label></div>',
        '<p class="figures"><span>{name}</span></p>',
        '<fieldset><label class="choice"><input type="checkbox"> {name}</label></fieldset>',
        '<table class="story"><tr><td class="when">2 Nov, 12:00</td><td>{name}</td></tr></table>',
        '<div class="heading"><form class="actions"><select><option>{name}</select></form></div>',
    ],
)
def test_a_long_name_without_a_place_to_break_fits_a_phone(page: Page, site: str, markup: str):
    page.set_viewport_size(PHONE)

    style(page, site, markup.format(name="street_scenes_" * 7), "main", "width")

    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
