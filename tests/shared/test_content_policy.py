"""The Content-Security-Policy of a site's pages."""

import pytest
from django.http import HttpResponse
from django.test import Client

from shared.content_policy import ContentSecurityPolicyMiddleware, content_policy


def test_a_site_adds_its_sources_and_a_page_replaces_some(settings):
    settings.CONTENT_POLICY = {"img-src": "'self' data:", "frame-ancestors": "'self'"}

    assert content_policy(img_src="https:", form_action="'none'") == (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'; img-src https:"
    )


@pytest.mark.parametrize("own", ["", "sandbox"])
def test_a_response_keeps_a_policy_of_its_own(rf, own):
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
