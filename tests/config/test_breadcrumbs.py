"""Every page says where it is, and the pages above it open."""

import re
from functools import cache

import pytest

from accounts.templatetags.parts import Crumb, trail
from config.breadcrumbs import PAGES
from tests.routes import ROUTES, address_of

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

CRUMBS = re.compile(r'<nav class="crumbs".*?</nav>', re.DOTALL)
# Pages that are the same for signed-in users and for others, and pages without the site's header.
WITHOUT = {
    "login", "password_reset", "password_reset_done", "password_reset_confirm", "api-documentation",
    "account:invitation", "leaderboard:sign_up", "hits:task", "hits:new_preview", "hits:course",
    "hits:told",
}  # fmt: skip


def test_every_page_below_the_top_has_breadcrumbs_that_open(world):
    names, clients = world
    client, faults, seen = clients["researcher"], [], 0
    opens = cache(lambda link: client.get(link).status_code == 200)
    for route in sorted(ROUTES.keys() - WITHOUT):
        address = address_of(route, names)
        answer = client.get(address, headers={"accept": "text/html"})
        if answer.status_code != 200 or answer.streaming or b"<main" not in answer.content:
            continue
        seen += 1
        if route not in PAGES:
            faults.append(f"{route}: add it to config/breadcrumbs.py")
        elif PAGES[route][1]:
            shown = CRUMBS.search(answer.content.decode())
            links = re.findall(r'href="([^"]+)"', shown[0]) if shown else []
            faults += [] if shown else [f"{route}: no breadcrumbs"]
            faults += [f"{one} on {address}" for one in links if not opens(one)]

    assert seen > 40
    assert not faults, "\n".join(faults)


def test_every_line_names_a_route_and_the_one_above_it():
    missing = PAGES.keys() - ROUTES.keys()
    above = {above for _, above in PAGES.values() if ":" in above}

    assert not missing
    assert above <= PAGES.keys()


def test_the_trail_leads_from_the_top_to_the_page():
    assert trail("account:team", {}) == [Crumb("Account"), Crumb("Team", "/account/team/")]
    assert [crumb.name for crumb in trail("hits:image", {"slug": "zoo", "number": 3})] == [
        "Campaigns", "zoo", "Images", "3",
    ]  # fmt: skip
    assert trail("no-such-route", {}) == []


def test_a_visitor_sees_no_breadcrumbs(client):
    assert not CRUMBS.search(client.get("/sign-in/").content.decode())
