"""The page that excludes a worker."""

import pytest

from annotate.models import ResponseStatus
from qualcontrol.models import Act, Decision
from tests.factories import CampaignFactory, LinkResponseFactory, ResponseFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_the_exclusion_page_shows_what_it_discards_and_costs(signed_in):
    campaign = CampaignFactory(slug="pilot")
    response = ResponseFactory(task__campaign=campaign)
    ResponseFactory(task__campaign=campaign, worker=response.worker)

    page = signed_in.get(f"/campaigns/pilot/workers/{response.worker.pseudonym}/exclude/")

    assert page.context["preview"].responses == 2
    assert "$0.24" in page.content.decode()
    assert not campaign.exclusions.exists()


def test_the_exclusion_page_of_links_speaks_of_responses_and_captions(signed_in):
    response = LinkResponseFactory(task__campaign__slug="pilot")

    page = signed_in.get(f"/campaigns/pilot/workers/{response.worker.pseudonym}/exclude/")

    assert "<dt>Responses discarded</dt><dd>1</dd>" in page.content.decode()
    assert "<dt>Captions reopened</dt><dd>1</dd>" in page.content.decode()


def test_excluding_needs_a_reason_and_is_logged(signed_in):
    campaign = CampaignFactory(slug="pilot")
    response = ResponseFactory(task__campaign=campaign)
    address = f"/campaigns/pilot/workers/{response.worker.pseudonym}/exclude/"

    without_reason = signed_in.post(address)
    with_reason = signed_in.post(address, {"reason": "keyword lists"}, follow=True)

    assert without_reason.status_code == 422
    assert "captions discarded: 1" in with_reason.content.decode()
    assert Decision.objects.get(act=Act.EXCLUDE).reason == "keyword lists"
    response.refresh_from_db()
    assert response.status == ResponseStatus.DISCARDED
