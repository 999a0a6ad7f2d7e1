"""Layouts, from the HTML file to the question of a HIT."""

import io
import json
from functools import partial

import pytest
from django.core.management import CommandError, call_command

from marketplace.models import Hit, HitLayout, Requester
from marketplace.questions.documents import parse_question
from tests.marketplace.factories import make_requester

pytestmark = pytest.mark.django_db

PAGE = "<!DOCTYPE html><p>Is this a ${animal}?</p><img src='${image.url}' alt=''>"


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


def make_layout(page, *, requester, name="animals"):
    out = io.StringIO()
    call_command(
        "marketplace_layout", name, str(page), "--requester", requester.name, "--json", stdout=out
    )
    return json.loads(out.getvalue())


def test_the_command_makes_a_layout_and_names_its_gaps(page):
    requester = make_requester()

    made = make_layout(page, requester=requester)

    layout = HitLayout.objects.get(requester=requester)
    assert made == {"layout_id": layout.public_id, "parameters": ["animal", "image.url"]}


def test_a_hit_of_the_layout_has_its_gaps_filled_with_html(transactional_db, marketplace, page):
    """As at Mechanical Turk, where programs pass lists and JSON, and escape other texts."""
    client = marketplace.requester()
    made = make_layout(page, requester=Requester.objects.get())

    request = partial(
        client.create_hit,
        LifetimeInSeconds=3600,
        AssignmentDurationInSeconds=600,
        Reward="0.05",
        Title="Animals",
        Description="One question about an animal.",
        HITLayoutId=made["layout_id"],
    )
    image = {"Name": "image.url", "Value": "https://images.example/1.jpg?a=1&b=2"}

    created = request(HITLayoutParameters=[{"Name": "animal", "Value": "<b>cat</b>"}, image])["HIT"]

    assert created["HITLayoutId"] == made["layout_id"]
    shown = parse_question(Hit.objects.get().question).html
    assert "Is this a <b>cat</b>?" in shown
    assert image["Value"] in shown
    with pytest.raises(client.exceptions.RequestError, match="parsing the XML"):
        request(HITLayoutParameters=[{"Name": "animal", "Value": "]]>"}, image])


def test_a_name_is_taken_once(page):
    requester = make_requester()
    make_layout(page, requester=requester)

    with pytest.raises(CommandError, match="has a layout 'animals' already"):
        make_layout(page, requester=requester)


@pytest.mark.parametrize("name", ["", "n" * 101])
def test_a_layout_needs_a_name_that_can_be_stored(page, name):
    with pytest.raises(CommandError, match="1 to 100 characters"):
        make_layout(page, requester=make_requester(), name=name)


@pytest.mark.parametrize("content", ["a ]]> b", "x" * 70_000, "a \x00 b"])
def test_a_page_that_no_hit_could_show_is_refused(tmp_path, content):
    path = tmp_path / "page.html"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(CommandError, match=r"page\.html: "):
        make_layout(path, requester=make_requester())

    assert not HitLayout.objects.exists()


def test_nobodys_layout_is_refused(page):
    with pytest.raises(CommandError, match="No requester is called 'nobody'"):
        call_command("marketplace_layout", "animals", str(page), "--requester", "nobody")
