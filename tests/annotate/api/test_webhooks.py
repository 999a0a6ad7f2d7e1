"""The API's webhooks."""

import pytest

from tests.api import send

pytestmark = pytest.mark.django_db


def test_a_webhook_is_added_changed_tested_and_removed(api, campaign):
    address = "/api/campaigns/pilot/webhooks/"

    added = send(api, address, url="https://hooks.example/a", kinds=["job-failed"])
    one = f"{address}{added.json()['id']}/"
    changed = api.put(
        one, {"url": "https://hooks.example/b", "is_on": False}, content_type="application/json"
    )
    tested = api.post(f"{one}test/")
    removed = api.delete(one)

    assert (added.status_code, added.json()["kinds"]) == (201, ["job-failed"])
    assert (changed.json()["url"], changed.json()["is_on"]) == ("https://hooks.example/b", False)
    assert len(changed.json()["kinds"]) > 1
    assert (tested.status_code, removed.status_code) == (202, 204)
    assert api.get(one).status_code == 404
    assert api.get(address).json()["results"] == []


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, 400),
        ({"url": "https://hooks.example/a", "kinds": []}, 400),
        ({"url": "https://hooks.example/a", "kinds": ["weather"]}, 409),
        ({"url": "http://127.0.0.1/a"}, 409),
        ({"url": "no address"}, 409),
    ],
)
def test_a_wrong_webhook_is_refused(api, campaign, fields, status):
    assert send(api, "/api/campaigns/pilot/webhooks/", **fields).status_code == status
    assert not campaign.webhooks.exists()
