"""Parts of every page, and rules that every page keeps."""

import pytest
from django.urls import reverse

from tests.factories import CampaignFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_the_pages_allow_no_inline_script_or_style(signed_in):
    CampaignFactory(slug="pilot", tasks=1)

    answer = signed_in.get("/campaigns/pilot/")

    policy = answer["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert " style=" not in answer.content.decode()


@pytest.mark.parametrize(
    ("endpoint", "label"),
    [
        ("local", "local"),
        ("sandbox", "sandbox"),
        ("production", "production · real money"),
        ("https://market.example:9000", "market.example:9000"),
    ],
)
@pytest.mark.parametrize(
    "address", ["hits:campaign", "qualcontrol:queue", "qualcontrol:workers", "qualcontrol:releases"]
)
def test_a_campaigns_marketplace_stands_on_each_of_its_pages(signed_in, address, endpoint, label):
    CampaignFactory(slug="pilot", endpoint=endpoint)

    page = signed_in.get(reverse(address, args=["pilot"])).content.decode()

    header = " ".join(page.split("</header>")[0].split())
    assert f"{label} </span>" in header


def test_other_pages_show_the_installations_marketplace(signed_in, settings):
    settings.MTURK_ENDPOINT = "sandbox"

    assert 'class="endpoint sandbox"' in signed_in.get("/").content.decode()


def test_a_part_of_a_page_is_no_page_to_sign_in(client):
    CampaignFactory(slug="pilot")

    answer = client.get("/campaigns/pilot/live/", headers={"HX-Request": "true"})

    assert (answer.status_code, answer["HX-Reswap"]) == (286, "none")
    assert "You are signed out." in answer.content.decode()
    assert "<h1" not in answer.content.decode()
    assert answer["Cache-Control"] == "no-store"
