"""Wrong inputs to every page of the site: rubbish in addresses, filters and forms.

The addresses are those of the URL list, and the forms are those that the pages show, so a new page
or form is tried without a change here.
"""

import re
from contextlib import suppress
from urllib.parse import quote

import pytest
from django.db import transaction
from django.test import Client
from django.urls import NoReverseMatch

from tests.factories import UserFactory
from tests.routes import ROUTES, address_of
from tests.rubbish import FORM, forms_of, query, some_rubbish, urlencoded

# On both databases for each page: what one stores, the other one refuses.
pytestmark = [pytest.mark.django_db, pytest.mark.database]

# The API has its own tests, by its schema.
PAGES = sorted(route for route in ROUTES if not route.startswith("api-"))
IN_EVERY_HEADER = {"/sign-out/", "/account/team/switch/"}
# A refusal is a sentence for people.
SENTENCE = re.compile(r"[A-Z][^.]*? [^.]*?[.!]")
TAG = re.compile(r"<[^>]*>")


def faults(client: Client, address: str, data: dict | None = None) -> list[str]:
    """The faults of the answer to a GET, or to a POST of the data; its changes are undone."""
    said = f"{'GET' if data is None else 'POST'} {address[:200]} {str(data or '')[:400]}"
    try:
        with transaction.atomic():
            answer = (
                client.get(address)
                if data is None
                else client.post(address, urlencoded(data), content_type=FORM)
            )
            body = b"".join(answer) if answer.status_code < 500 else b""
            transaction.set_rollback(True)
    except Exception as error:
        return [f"{said}: {type(error).__name__}: {str(error)[:300]}"]
    if "X-Injected" in answer.headers:
        return [f"{said} sets a header"]
    if answer.status_code >= 400 and not is_explained(answer, body):
        return [f"{said}: {answer.status_code} without a sentence"]
    return []


def is_explained(answer, body: bytes) -> bool:
    if answer.status_code == 405:
        return bool(answer["Allow"])
    text = TAG.sub(" ", body.decode(errors="replace"))
    return answer.status_code < 500 and bool(SENTENCE.search(text))


def report(found: list[str]) -> None:
    assert not found, f"{len(found)} faults:\n" + "\n".join(found[:30])


def address_with(route: str, names: dict, argument: str, value: str) -> str | None:
    """The route's address with rubbish as one argument; None if it does not lead there."""
    marked = {**names, argument: "MARK"}
    try:
        address = address_of(route, {k: v for k, v in marked.items() if "." not in k})
    except (NoReverseMatch, KeyError):
        return None
    return address.replace("MARK", quote(value, safe="", errors="surrogatepass"))


@pytest.mark.parametrize("route", PAGES)
def test_rubbish_in_an_address_is_refused_in_words(route, every_row):
    names, clients = every_row
    client, address, found = clients["operator"], address_of(route, names), []
    for value in some_rubbish(route):
        found += faults(clients["researcher"], address + query(value))
    for argument in ROUTES[route]:
        for value in some_rubbish(route + argument, 8):
            if wrong := address_with(route, names, argument, value):
                found += faults(client, wrong)
        # A number that no database has a place for.
        large = {key: 10**20 if key.rpartition(".")[2] == argument else names[key] for key in names}
        with suppress(NoReverseMatch):
            found += faults(client, address_of(route, large))

    report(found)


@pytest.mark.parametrize("route", PAGES)
def test_a_post_without_its_fields_or_with_others_is_refused_in_words(route, every_row):
    names, clients = every_row
    address, found = address_of(route, names), []
    for client in clients.values():
        found += faults(client, address, {})
    for value in some_rubbish(route):
        data = dict.fromkeys(("act", "reason", "what", "key"), value)
        found += faults(clients["operator"], address, data)

    report(found)


@pytest.mark.parametrize("route", PAGES)
def test_rubbish_in_a_form_is_refused_in_words(route, every_row):
    names, clients = every_row
    address = address_of(route, names)
    # Operators see every form, and have the rights for it.
    client = clients["researcher" if route.startswith(("hits:new", "leaderboard")) else "operator"]
    answer = client.get(address)
    if answer.status_code != 200 or not answer["Content-Type"].startswith("text/html"):
        return
    found = []
    for form in forms_of(b"".join(answer).decode(), address):
        if form.address not in IN_EVERY_HEADER:
            for data in form.with_rubbish():
                found += faults(client, form.address, data)

    report(found)


# Requests that are damaged or too large


def test_a_form_with_too_much_text_is_too_large(client):
    client.force_login(UserFactory())

    answer = client.post("/new/file/", {"text": "x"}, content_type="application/json")
    large = client.post("/new/file/", b"text=" + b"x" * 3_000_000, content_type=FORM)

    assert answer.status_code == 422
    assert large.status_code == 413
    assert "too long together" in large.content.decode()


def test_a_form_with_too_many_fields_is_not_understood(client):
    client.force_login(UserFactory())

    answer = client.post("/new/file/", b"a=1&" * 2_000, content_type=FORM)

    assert answer.status_code == 400
    assert "damaged or incomplete" in answer.content.decode()


def test_a_request_to_another_host_is_refused_in_words(client):
    answer = client.get("/sign-in/", headers={"host": "elsewhere.example"})

    assert answer.status_code == 400
    assert b"could not be read" in answer.content


def test_a_file_name_that_no_disk_can_have_is_not_found(client):
    client.force_login(UserFactory())

    assert client.get(f"/media/{'x' * 5_000}").status_code == 404


@pytest.mark.parametrize("name", ["sessionid", "csrftoken", "messages"])
def test_a_cookie_with_a_nul_character_is_ignored(client, name):
    client.force_login(UserFactory())
    kept = client.cookies["sessionid"].value

    alone = client.get("/", headers={"cookie": rf'{name}="a\000b"'})
    beside = client.get("/", headers={"cookie": rf'other="\000"; sessionid={kept}'})

    assert (alone.status_code, alone["Location"]) == (302, "/sign-in/?next=/")
    assert beside.status_code == 200


def test_a_form_with_a_nul_character_is_not_understood(client):
    client.force_login(UserFactory())

    answer = client.post("/new/", {"selection": "a\0b"})

    assert answer.status_code == 400
    assert "damaged or incomplete" in answer.content.decode()
