"""Pages and lists of a campaign take a fixed number of queries for any size of campaign."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.campaign_pages import addresses, signed_in
from tests.full_campaign import FullCampaign, make_full_campaign

pytestmark = pytest.mark.django_db

# Where the database is PostgreSQL, the indexes of words and of flags are asked first.
ASKS_INDEX_FIRST = ("words=often", "flag=too_short")
# Pages that leave out a step where the campaign has nothing for it yet.
AT_TEN_TASKS = {"qualcontrol:queue": 30, "qualcontrol:releases": 14}
QUERIES = {
    "api-campaign-appeals": 6,
    "api-campaign-appeals?open=false": 6,
    "api-campaign-appeals?open=true": 6,
    "api-campaign-bonuses": 6,
    "api-campaign-bonuses?worker=W": 6,
    "api-campaign-decisions": 6,
    "api-campaign-decisions?act=DISCARD": 6,
    "api-campaign-decisions?act=REJECT": 6,
    "api-campaign-decisions?worker=W": 8,
    "api-campaign-detail": 11,
    "api-campaign-estimate": 7,
    "api-campaign-gold": 6,
    "api-campaign-list": 8,
    "api-campaign-list?status=RUNNING": 8,
    "api-campaign-messages": 6,
    "api-campaign-releases": 6,
    "api-campaign-responses": 6,
    "api-campaign-responses?flag=too_short": 6,
    "api-campaign-responses?flag=too_short&verdict=BAD&worker=W": 6,
    "api-campaign-responses?image=full-99": 6,
    "api-campaign-responses?limit=50": 6,
    "api-campaign-responses?status=DISCARDED": 6,
    "api-campaign-responses?verdict=BAD": 6,
    "api-campaign-responses?verdict=GOOD": 6,
    "api-campaign-responses?worker=W": 6,
    "api-campaign-sync": 7,
    "api-campaign-tasks": 6,
    "api-campaign-tasks?image=full-99": 6,
    "api-campaign-tasks?unfinished=false": 6,
    "api-campaign-tasks?unfinished=true": 6,
    "api-held-payment-list": 6,
    "api-held-payment-list?open=false": 6,
    "api-held-payment-list?open=true": 6,
    "api-image-list": 4,
    "api-image-list?name=99": 4,
    "api-image-list?name=nothing": 4,
    "api-image-list?object_class=C": 4,
    "api-image-list?source=OPEN_IMAGES": 4,
    "api-image-list?split=full": 4,
    "api-image-list?split=full&object_class=C": 4,
    "api-job-list": 4,
    "api-job-list?campaign=full": 4,
    "api-job-list?kind=release": 4,
    "api-job-list?status=DONE": 4,
    "api-selection-detail": 4,
    "api-selection-images": 5,
    "api-selection-list": 4,
    "api-selection-list?split=full": 4,
    "api-spot-check-list": 6,
    "api-spot-check-list?open=false": 6,
    "api-spot-check-list?open=true": 6,
    "api-spot-check-list?verdict=BAD": 6,
    "api-spot-check-list?verdict=GOOD": 6,
    "api-webhook-list": 6,
    "api-worker-detail": 11,
    "api-worker-exclusion": 9,
    "api-worker-list": 11,
    "hits:campaign": 35,
    "hits:campaign_file": 5,
    "hits:campaigns": 8,
    "hits:campaigns?status=RUNNING": 8,
    "hits:change": 10,
    "hits:finish": 11,
    "hits:pause": 11,
    "hits:course": 7,
    "hits:exclude": 11,
    "hits:held_payments": 9,
    "hits:image": 12,
    "hits:images": 6,
    "hits:images?after=900": 6,
    "hits:images?class=C": 7,
    "hits:images?class=C&state=discarded": 7,
    "hits:images?image=full-99": 6,
    "hits:images?state=complete": 6,
    "hits:images?state=discarded": 6,
    "hits:images?state=empty": 6,
    "hits:images?state=incomplete": 6,
    "hits:at_marketplace": 6,
    "hits:invite": 5,
    "hits:who_is_who": 5,
    "hits:new_campaign": 7,
    "hits:overview_live": 27,
    "hits:pay_held": 7,
    "hits:payments": 9,
    "hits:publish": 9,
    "hits:reject": 6,
    "hits:reject_held": 7,
    "hits:responses": 6,
    "hits:responses?after=900-0": 6,
    "hits:responses?before=900-0": 6,
    "hits:responses?class=C": 8,
    "hits:responses?class=C&status=discarded": 8,
    "hits:responses?class=C&worker=W": 8,
    "hits:responses?flag=any": 7,
    "hits:responses?flag=too_short": 7,
    "hits:responses?flag=too_short&status=bad": 7,
    "hits:responses?status=bad": 8,
    "hits:responses?status=counting": 7,
    "hits:responses?status=discarded": 7,
    "hits:responses?status=good": 8,
    "hits:responses?status=open": 8,
    "hits:responses?status=unchecked": 7,
    "hits:responses?words=12345": 6,
    "hits:responses?words=nothing": 6,
    "hits:responses?words=often": 7,
    "hits:responses?words=often&class=C": 8,
    "hits:responses?words=often&class=C&worker=W&status=good&flag=too_short": 9,
    "hits:responses?words=often&worker=W": 7,
    "hits:responses?worker=W": 7,
    "hits:selected_workers?act=bonus&worker=W": 10,
    "hits:selected_workers?act=exclude&worker=W": 14,
    "hits:selected_workers?act=message&worker=W": 10,
    "hits:selected_workers?act=reinstate&worker=W": 10,
    "hits:sync_progress": 7,
    "images:image": 10,
    "images:images": 7,
    "images:images?after=1000": 7,
    "images:images?class=C": 8,
    "images:images?class=C&split=full": 8,
    "images:images?name=99": 7,
    "images:images?name=nothing": 7,
    "images:images?split=full": 7,
    "images:import": 5,
    "images:new_selection": 6,
    "images:pools": 10,
    "images:pools?split=full": 9,
    "images:selection": 8,
    "images:selections": 6,
    "jobs:count": 6,
    "jobs:jobs": 7,
    "jobs:jobs?status=FAILED": 7,
    "qualcontrol:decisions": 6,
    "qualcontrol:decisions?act=DISCARD": 6,
    "qualcontrol:decisions?act=REJECT": 6,
    "qualcontrol:decisions?actor=campaign": 6,
    "qualcontrol:decisions?reason=nothing": 6,
    "qualcontrol:decisions?reason=risk": 6,
    "qualcontrol:decisions?since=2026-01-01&until=2026-02-01": 6,
    "qualcontrol:decisions?worker=W": 8,
    "qualcontrol:gold": 11,
    "qualcontrol:quality": 19,
    "qualcontrol:queue": 44,
    "qualcontrol:releases": 15,
    "qualcontrol:response": 13,
    "qualcontrol:worker": 17,
    "qualcontrol:workers": 10,
    "qualcontrol:workers?judged=yes": 10,
    "qualcontrol:workers?sort=answers": 10,
    "qualcontrol:workers?sort=bad": 10,
    "qualcontrol:workers?sort=good": 10,
    "qualcontrol:workers?sort=share": 10,
    "qualcontrol:workers?sort=worker": 10,
    "qualcontrol:workers?state=active": 10,
    "qualcontrol:workers?state=excluded": 10,
    "qualcontrol:workers?state=paused": 10,
    "qualcontrol:workers?state=proposed": 10,
    "qualcontrol:workers?state=waiting": 6,
    "qualcontrol:workers?worker=W": 10,
    "webhooks:webhooks": 6,
}


def queries_of_pages(full: FullCampaign, expected: dict[str, int]) -> dict[str, int]:
    client, taken = signed_in(full), {}
    for name, address in addresses(full).items():
        # What is kept for the process is read by the first request that needs it.
        for _ in range(2):
            with CaptureQueriesContext(connection) as captured:
                answer = client.get(address)
                answer.getvalue()
            if len(captured) == expected.get(name):
                break
        if answer.status_code != 405:
            assert answer.status_code in {200, 204, 302, 409}, (name, answer.status_code)
            taken[name] = len(captured)
    return taken


def expected_queries(name: str) -> int:
    has_steps = name.startswith(("hits:responses?", "api-campaign-responses?flag"))
    if connection.vendor == "sqlite" or not has_steps:
        return QUERIES[name]
    return QUERIES[name] + sum(word in name for word in ASKS_INDEX_FIRST)


@pytest.mark.parametrize("tasks", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_each_page_takes_its_number_of_queries(tasks):
    expected = {name: expected_queries(name) for name in QUERIES}
    if tasks == 10:
        expected |= AT_TEN_TASKS

    taken = queries_of_pages(make_full_campaign(name="full", tasks=tasks), expected)

    assert taken == expected
