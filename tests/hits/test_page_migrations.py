"""Migrating a database from before task pages were stored."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotate.models import Claim, Response
from annotate.services.campaigns import recount_places
from hits.models import Assignment, TaskPage
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    TaskFactory,
    TaskPageFactory,
    WorkerAccountFactory,
)

BEFORE = [("annotate", "0008_drop_tokens_without_an_end"), ("hits", "0005_hit_read_at")]


@pytest.fixture
def move():
    """Migrate the database to an earlier state, or without an argument to the latest one."""
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()

    def migrate(targets=None):
        executor.loader.build_graph()
        executor.migrate(targets or latest)
        return executor.loader.project_state(targets or latest).apps

    yield migrate
    migrate()


@pytest.fixture
def campaign(transactional_db):
    campaign = CampaignFactory()
    TaskFactory.create_batch(2, campaign=campaign, wanted=3)
    return campaign


@pytest.mark.django_db(transaction=True)
def test_what_was_reported_is_kept_there_and_back(campaign, move):
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign))
    first, second = campaign.tasks.order_by("number")
    assignment = AssignmentFactory(hit=hit)
    counted = ResponseFactory(
        task=first, worker=assignment.account.worker, assignment=assignment, text="A dog."
    )
    collected = ResponseFactory(task=second)
    TaskPageFactory(hit=hit)

    old = move(BEFORE)
    claim = old.get_model("annotate", "Response").objects.get(pk=counted.pk).claim
    assert claim.status == "USED"
    assert [each.pk for each in claim.assignments.all()] == [assignment.pk]
    move()

    assert Response.objects.get(pk=counted.pk).assignment == assignment
    assert Response.objects.get(pk=counted.pk).caption.text == "A dog."
    assert Response.objects.get(pk=collected.pk).assignment is None
    assert not TaskPage.objects.exists()
    assert recount_places(campaign) == 0


@pytest.mark.django_db(transaction=True)
def test_what_was_not_reported_becomes_a_page_or_goes(campaign, move):
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign))
    first, second = campaign.tasks.order_by("number")
    account = WorkerAccountFactory()

    old = move(BEFORE)
    tables = {name: old.get_model(*name.split(".")).objects for name in TABLES}
    opened = tables["hits.Assignment"].create(
        hit_id=hit.pk, account_id=account.pk, assignment_id="OPEN", status="OPENED"
    )
    times = {"claimed_at": NOON, "expires_at": NOON + timedelta(hours=1)}
    claims = [
        tables["annotate.Claim"].create(
            task_id=task.pk, worker_id=account.worker_id, status=status, **times
        )
        for task, status in [(first, "HELD"), (second, "RELEASED")]
    ]
    opened.claims.set(claims)
    for task, claim in zip([first, second], claims, strict=True):
        stored = tables["annotate.Response"].create(
            task_id=task.pk, worker_id=account.worker_id, claim=claim, stored_at=NOON
        )
        tables["annotate.Caption"].create(response=stored, text="A dog runs.")
        tables["annotate.Behaviour"].create(response=stored, keystrokes=7, device="PHONE")
    move()

    page = TaskPage.objects.get()
    assert (page.hit, page.assignment_id) == (hit, "OPEN")
    assert (page.marketplace_id, page.device) == (account.marketplace_id, "PHONE")
    assert page.fields == {f"caption-{first.number}": "A dog runs."}
    assert page.counts == {str(first.number): {"keystrokes": 7}}
    assert [claim.task for claim in Claim.objects.all()] == [first]
    assert not Response.objects.exists()
    assert not Assignment.objects.exists()
    assert recount_places(campaign) == 0


TABLES = [
    "annotate.Behaviour",
    "annotate.Caption",
    "annotate.Claim",
    "annotate.Response",
    "hits.Assignment",
]
