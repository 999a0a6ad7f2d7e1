"""Queries whose cost must not grow with the marketplace, checked by their query plans."""

import pytest
from django.db import connection

from marketplace.queries import NEXT_HIT
from tests.marketplace.factories import NOON, make_hit, make_hit_type, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def plan() -> str:
    """The database's plan to find a worker's next HIT."""
    hit_type, worker = make_hit_type(), make_worker()
    for _ in range(3):
        make_hit(hit_type)

    explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    values = {"hit_type": hit_type.pk, "after": 0, "at": NOON, "worker": worker.pk}
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {NEXT_HIT}", values)
        return str(cursor.fetchall())


@pytest.mark.skipif(connection.vendor != "postgresql", reason="the plan is PostgreSQL's")
def test_the_next_hit_is_found_without_reading_all_assignments(plan):
    assert "SubPlan" in plan
    assert "Anti Join" not in plan


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the plan is SQLite's")
def test_the_next_hit_is_found_without_sorting_all_of_them(plan):

    assert "hit_of_type_by_status" in plan
    assert "TEMP B-TREE" not in plan
    # Not everything that the worker ever did, once more for each HIT that is looked at.
    assert "assignment_of_worker_at_hit" in plan
