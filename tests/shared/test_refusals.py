"""The page for a request that is refused, at a site."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from shared.refusals import refusal

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
