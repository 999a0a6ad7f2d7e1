"""The test hooks: off by default, and undone after a test."""

import pytest
import requests
from django.conf import settings as site


@pytest.mark.parametrize("path", ["clock", "faults", "settings", "requesters", "workers"])
def test_the_hooks_are_not_there_unless_switched_on(marketplace, settings, path):
    settings.TEST_HOOKS = False

    assert requests.post(f"{marketplace.url}/test/{path}", json={}).status_code == 404


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("clock", {}),
        ("clock", {"advance_seconds": 1e308}),
        ("clock", {"advance_seconds": 3e11}),
        ("faults", {"operation": "GetHIT", "kind": "earthquake"}),
        ("settings", {"SECRET_KEY": "x"}),
        ("settings", {"MTURK_NO_SUCH_THING": 1}),
        ("settings", {"MTURK_LISTING_LAG": "soon"}),
        ("settings", {"MTURK_FEE_SHARE": "a lot"}),
        ("settings", {"MTURK_MOST_REWARD": "NaN"}),
        ("requesters", {"name": "lab", "balance": "NaN"}),
        ("requesters", {"name": "lab", "balance": "Infinity"}),
        ("requesters", {"name": "lab", "balance": "-5"}),
        ("workers", {}),
        ("workers", []),
        ("workers", {"name": "ada", "approved": -1}),
        ("workers", {"name": "ada", "approved": "many"}),
        ("workers", {"name": "ada", "approved": 10, "rate": 0}),
    ],
)
def test_a_hook_refuses_a_body_that_it_does_not_understand(marketplace, path, body):
    response = requests.post(f"{marketplace.url}/test/{path}", json=body)

    assert response.status_code == 400
    assert response.json()["error"]


def test_settings_are_changed_in_their_own_types_and_brought_back(marketplace):
    before = (site.MTURK_LISTING_LAG, site.MTURK_FEE_SHARE, site.MTURK_LIFETIME_SECONDS)
    marketplace.choose(MTURK_LISTING_LAG=5, MTURK_FEE_SHARE="0.3", MTURK_LIFETIME_SECONDS=[1, 2])
    changed = (site.MTURK_LISTING_LAG, site.MTURK_FEE_SHARE, site.MTURK_LIFETIME_SECONDS)

    marketplace.put_right()

    assert [type(each) for each in changed] == [type(each) for each in before]
    assert changed[2] == (1, 2)
    assert before == (site.MTURK_LISTING_LAG, site.MTURK_FEE_SHARE, site.MTURK_LIFETIME_SECONDS)
