"""Pages and lists of a campaign take the same queries when it is ten times as large."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks.dashboard import FullCampaign, addresses, signed_in
from benchmarks.full_campaign import make_full_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.long]

TASKS = 40
# No page takes more.
MOST = 45


def queries_of_pages(full: FullCampaign) -> dict[str, int]:
    client, taken = signed_in(full), {}
    for name, address in addresses(full).items():
        client.get(address)  # what is kept for the process is read once
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(address)
            answer.getvalue()
        if answer.status_code != 405:
            assert answer.status_code in {200, 204, 302, 409}, (name, answer.status_code)
            taken[name] = len(captured)
    return taken


def _allowed(name: str) -> int:
    """A filter that finds nothing at its first step takes no second one, and an item of the queue
    that is gold takes one query of its own."""
    return 2 if "?" in name or name == "qualcontrol:queue" else 0


def test_no_page_takes_more_queries_for_a_larger_campaign():
    small = make_full_campaign(name="small", tasks=TASKS)
    few = queries_of_pages(small)
    large = make_full_campaign(name="large", tasks=10 * TASKS)
    many = queries_of_pages(large)

    assert len(few) > 60
    differing = {
        name: (number, many[name])
        for name, number in few.items()
        if many[name] - number > _allowed(name)
    }
    assert differing == {}
    assert {name: number for name, number in many.items() if number > MOST} == {}
