"""Requests that are damaged or too large get a page that says so."""

import pytest

from tests.factories import UserFactory
from tests.rubbish import FORM

pytestmark = pytest.mark.django_db


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
