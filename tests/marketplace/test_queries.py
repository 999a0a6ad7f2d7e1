"""Queries whose cost must not grow with the number of HITs, checked by their query plans."""

import pytest
from django.db import connection

from marketplace.queries import NEXT_HIT
from tests.marketplace.factories import NOON, make_hit, make_hit_type, make_worker


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="the plan is SQLite's")
def test_the_next_hit_is_found_without_sorting_all_of_them():
    hit_type, worker = make_hit_type(), make_worker()
    for _ in range(3):
        make_hit(hit_type)

    values = {"hit_type": hit_type.pk, "after": 0, "at": NOON, "worker": worker.pk}
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {NEXT_HIT}", values)
        plan = str(cursor.fetchall())

    assert "hit_of_type_by_status" in plan
    assert "TEMP B-TREE" not in plan
    # Not everything that the worker ever did, once more for each HIT that is looked at.
    assert "assignment_of_worker_at_hit" in plan
