"""Requests and their answers, on both sites."""

from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from shared.requests import (
    UNKNOWN,
    ContentSecurityPolicyMiddleware,
    StorableCookiesMiddleware,
    client_address,
    content_policy,
    refusal,
)

HERE, FORGED = "192.0.2.7", "203.0.113.9"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("192.0.2.7:4711", "192.0.2.7"),
        ("[2001:db8:1:2::7]:4711", "2001:db8:1:2::"),
        ("", UNKNOWN),
        ("unix:", UNKNOWN),
    ],
)
def test_the_address_of_a_request(rf, given, expected):
    assert client_address(rf.get("/", REMOTE_ADDR=given)) == expected


@pytest.mark.parametrize(("is_behind", "expected"), [(True, HERE), (False, "127.0.0.1")])
def test_only_a_proxy_says_where_a_request_is_from(rf, settings, is_behind, expected):
    settings.BEHIND_PROXY = is_behind
    forwarded = f"{FORGED}, {HERE}"

    found = client_address(rf.get("/", REMOTE_ADDR="127.0.0.1", HTTP_X_FORWARDED_FOR=forwarded))

    assert found == expected


@pytest.mark.parametrize("forwarded", ["", "garbage", "192.0.2.7, ", "\x00"])
def test_a_proxy_that_adds_no_address_locks_nobody_by_a_forged_one(rf, settings, forwarded):
    settings.BEHIND_PROXY = True

    found = client_address(rf.get("/", REMOTE_ADDR="127.0.0.1", HTTP_X_FORWARDED_FOR=forwarded))

    assert found in {UNKNOWN, "127.0.0.1"}


def test_a_site_adds_its_sources_and_a_page_replaces_some(settings):
    settings.CONTENT_POLICY = {"img-src": "'self' data:", "frame-ancestors": "'self'"}

    assert content_policy(img_src="https:", form_action="'none'") == (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'; img-src https:"
    )


@pytest.mark.parametrize("own", ["", "sandbox"])
def test_a_response_keeps_its_own_policy(rf, own):
    response = HttpResponse(headers={"Content-Security-Policy": own} if own else {})

    ContentSecurityPolicyMiddleware(lambda _: response)(rf.get("/"))

    assert response["Content-Security-Policy"] == (own or content_policy())


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/no-such-page", "/healthz"])
def test_every_page_of_the_site_has_a_policy(address):
    policy = Client().get(address)["Content-Security-Policy"]

    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


pytestmark = pytest.mark.django_db


def test_the_page_says_what_and_why_and_when_to_try_again(client):
    request = client.get("/no-such-page").wsgi_request

    page = refusal(request, 429, "Too often", "Wait a minute.", wait=timedelta(minutes=1))

    assert (page.status_code, page["Retry-After"]) == (429, "60")
    assert "<h1>Too often</h1>" in page.content.decode()
    assert "Wait a minute." in page.content.decode()


def test_a_page_that_does_not_exist_and_a_form_without_its_token_are_refused(settings):
    strict = Client(enforce_csrf_checks=True)
    address = reverse("sign_in" if settings.SITE_NAME == "marketplace" else "login")

    for page, status in ((strict.get("/no-such-page"), 404), (strict.post(address), 403)):
        assert page.status_code == status
        assert "<h1>" in page.content.decode()
        assert "Retry-After" not in page.headers


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
