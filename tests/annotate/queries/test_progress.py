"""The number of pages that missing responses take."""

import pytest

from annotate.kinds.campaign_files import parse_config
from annotate.queries.progress import pages_for


@pytest.mark.parametrize(
    ("lacking", "by_own", "by_many"),
    [
        ({}, 0, 0),
        ({0: 4}, 0, 0),
        ({3: 0, 1: 2}, 1, 1),
        ({3: 10}, 12, 10),
        # Two pages: the first and second task with the third, and again with the fourth.
        ({2: 2, 1: 2}, 3, 2),
        ({5: 1}, 5, 5),
    ],
)
def test_own_people_each_do_all_tasks_and_many_fill_each_others_pages(lacking, by_own, by_many):
    found = {who: pages_for(lacking, config(who)) for who in ("own", "panel", "nocaps")}

    assert found == {"own": by_own, "panel": by_many, "nocaps": by_many}


def config(who):
    file = {"name": "streets", "selection": "streets", "budget": 5, "workers": {"who": who}}
    return parse_config({**file, "hit": {"images": 3}})
