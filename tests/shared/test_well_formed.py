"""Requests that no page can use, at a site."""

import pytest
from django.test import Client

from shared.well_formed import StorableCookiesMiddleware

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("address", ["/a%00b", "/?q=a%00b", "/healthz?%00"])
def test_a_nul_in_an_address_finds_nothing(address):
    assert Client().get(address).status_code == 404


@pytest.mark.parametrize("charset", ["utf-16", "rot13", "no-such"])
def test_a_form_in_another_charset_is_refused(charset):
    kind = f"multipart/form-data; boundary=x; charset={charset}"

    assert Client().generic("POST", "/sign-in/", b"--x--", kind).status_code == 400


def test_a_cookie_with_a_nul_is_ignored(rf):
    request = rf.get("/")
    request.COOKIES = {"session": "a\0b", "csrf": "kept"}

    StorableCookiesMiddleware(lambda request: request.COOKIES)(request)

    assert request.COOKIES == {"csrf": "kept"}
