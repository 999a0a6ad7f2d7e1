"""Queries of a campaign read few rows of large tables, by the plans that PostgreSQL runs.

A small campaign shares the database with one that is fifty times as large. PostgreSQL reports the
plan of each statement (`auto_explain`), those of triggers, foreign keys and prepared statements
included, with the number of rows that each step has read. So a test fails if a query reads the rows
of other campaigns, also by an index.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from annotate.models import Response, Worker
from benchmarks.harness import settle_down
from hits.services.hit_pages import FrameParameters
from hits.services.submissions import Reported, take_submissions
from hits.services.task_pages import open_page
from qualcontrol.review.review_queue import next_checks
from qualcontrol.services.releasing import release_campaign
from tests.campaign_pages import addresses, signed_in
from tests.full_campaign import make_full_campaign
from tests.hits.opened_pages import SENTENCE, listed
from tests.worlds import shared_rows

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.slow,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="the plans are PostgreSQL's"),
]

SMALL, LARGE = 20, 1_000
# A query reads at most so many rows of a table that is larger than twice the number.
MOST_READ = 1_000
SETTINGS = {
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_format": "json",
    "auto_explain.log_level": "notice",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
    # As on fast disks, or PostgreSQL would rather read the whole of a test's tables.
    "random_page_cost": "1.1",
}
# Lists that show or sum up more than one campaign: images, and campaigns.
OF_ALL_CAMPAIGNS = ("images:", "api-image-list", "api-campaign-list", "hits:campaigns")


@pytest.fixture(scope="module")
def both(django_db_setup, django_db_blocker):
    with shared_rows(django_db_blocker):
        make_full_campaign(name="large", tasks=LARGE)
        found = make_full_campaign(name="small", tasks=SMALL)
        settle_down()
        with connection.cursor() as cursor:
            # Or the checks that wait would keep a test from changing the tables.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        yield found


@pytest.fixture
def small(both, db):
    """The small campaign of the two."""
    return deepcopy(both)


class Notices:
    """Keeps the plans among the server's notices. Psycopg cuts off only a list."""

    def __init__(self) -> None:
        self.plans: list[dict[str, object]] = []

    def append(self, notice: str) -> None:
        _, _, plan = notice.partition("plan:")
        if plan:
            self.plans.append(json.loads(plan))


@contextmanager
def plans() -> Iterator[list[dict[str, object]]]:
    """The plans of all statements that run meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute("LOAD 'auto_explain'")
        for name, value in SETTINGS.items():
            cursor.execute(f"SET {name} = '{value}'")
    notices = connection.connection.notices = Notices()
    try:
        yield notices.plans
    finally:
        connection.connection.notices = []
        with connection.cursor() as cursor:
            cursor.execute("SET auto_explain.log_min_duration = -1")


def large_tables() -> dict[str, str]:
    """{name of a large table or of its index: the table}"""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, relname FROM pg_class WHERE relkind = 'r' AND reltuples > %(least)s "
            "UNION ALL SELECT entry.relname, whole.relname FROM pg_index "
            "JOIN pg_class AS entry ON entry.oid = indexrelid "
            "JOIN pg_class AS whole ON whole.oid = indrelid WHERE whole.reltuples > %(least)s",
            {"least": 2 * MOST_READ},
        )
        return dict(cursor.fetchall())


def reads(plan: object) -> Iterator[tuple[str, int]]:
    """The name of each table or index that the plan reads, with the number of rows."""
    if isinstance(plan, list):
        for part in plan:
            yield from reads(part)
    elif isinstance(plan, dict):
        name = plan.get("Relation Name") or plan.get("Index Name")
        if name and plan["Node Type"] != "ModifyTable":
            rows = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
            yield name, rows * plan["Actual Loops"]
        for part in plan.values():
            yield from reads(part)


def much_read(action: Callable[[], object]) -> dict[str, str]:
    """{large table: a statement that reads many of its rows}"""
    with plans() as found:
        action()
    assert found, "PostgreSQL reported no plan"
    large = large_tables()
    return {
        large[name]: f"{rows} rows: {plan['Query Text']}"
        for plan in found
        for name, rows in reads(plan)
        if name in large and rows > MOST_READ
    }


def test_the_large_tables_are_large(small):
    large = large_tables()

    assert {"annotate_response", "annotate_caption", "hits_assignment"} <= large.keys()
    assert {"qualcontrol_assessment", "annotate_box", "response_by_worker"} <= large.keys()


def test_a_submission_is_ingested_by_indexes(small):
    hit = small.campaign.hits.filter(paid=None).latest("pk")
    task = small.campaign.tasks.filter(answers_missing__gt=0).first()
    report = listed("ASSIGNMENT0", "ASTRANGER", **{f"caption-{task.number}": SENTENCE})

    much = much_read(
        lambda: take_submissions(
            campaign=small.campaign, reported=[Reported(hit, report)], at=timezone.now()
        )
    )

    assert task.responses.filter(worker__account__marketplace_id="ASTRANGER").exists()
    assert much == {}


def test_the_next_item_to_review_is_found_by_indexes(small):
    queue = []

    much = much_read(
        lambda: queue.extend(
            next_checks(campaign=small.campaign, reviewer=small.user, count=5, at=timezone.now())
        )
    )

    assert queue
    assert much == {}


def test_a_page_claims_its_tasks_by_indexes(small):
    hit = small.campaign.hits.filter(paid=None).latest("pk")
    frame = FrameParameters("ASSIGNMENT0", hit.hit_id, "ASTRANGER", "http://127.0.0.1")
    opened = []

    much = much_read(
        lambda: opened.append(open_page(campaign=small.campaign, frame=frame, at=timezone.now()))
    )

    assert opened[0].tasks
    assert much == {}


def test_pages_and_lists_of_a_campaign_read_its_rows_only(small):
    client = signed_in(small)
    pages = {
        name: address
        for name, address in addresses(small).items()
        if not name.startswith(OF_ALL_CAMPAIGNS)
    }

    much = {name: much_read(lambda a=address: client.get(a)) for name, address in pages.items()}

    assert {"hits:campaign", "hits:course", "hits:responses?words=often"} < pages.keys()
    assert {name: found for name, found in much.items() if found} == {}


def test_a_release_reads_its_campaigns_rows_only(small):
    counters = ("wanted", "answers_missing", "places_left")
    small.campaign.tasks.update(**{counter: F(counter) - 2 for counter in counters})
    released = []

    much = much_read(
        lambda: released.append(
            release_campaign(
                campaign=small.campaign, name="r", seed=1, at=timezone.now(), partial=True
            )
        )
    )

    assert released[0].images.exists()
    assert much == {}


def test_a_missing_index_is_noticed(small):
    theirs = Response.objects.filter(worker=Worker.objects.filter(responses__gt=0).first())
    assert much_read(lambda: theirs.count()) == {}

    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("DROP INDEX response_by_worker")
        # Its second column is the worker, so PostgreSQL would search this whole index.
        cursor.execute(
            "ALTER TABLE annotate_response DROP CONSTRAINT response_once_per_worker_and_task"
        )

    assert list(much_read(lambda: theirs.count())) == ["annotate_response"]


def test_the_rows_of_another_campaign_are_noticed(small):
    first = Response.objects.of(small.campaign).order_by("pk")[:1]
    assert much_read(lambda: list(first.all())) == {}

    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX response_in_order, response_by_campaign, response_by_worker")

    assert list(much_read(lambda: list(first.all()))) == ["annotate_response"]
