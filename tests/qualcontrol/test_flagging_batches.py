"""Flags of a batch of responses are the same as one by one."""

import random
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Behaviour
from qualcontrol.models import Assessment, Copying, CopyKey
from qualcontrol.services.filed_captions import FiledCaptions
from qualcontrol.services.flagging import assess
from tests.factories import NOON, CampaignFactory, ResponseFactory, TaskFactory, WorkerFactory

pytestmark = pytest.mark.django_db

TEXTS = [
    "A brown dog jumps over a low wooden fence in a garden.",
    "A brown dog jumps over a low wooden fence in the garden.",
    "Two cyclists ride past a row of parked cars on a wet street.",
    "An orange kite flies above a crowded beach at noon.",
    "dog",
    "THE DOG THE DOG THE DOG",
    "An orange kite flies above a crowded beach at noon.",
]


def write(campaign, workers, tasks):
    """A caption by each worker for each image, some copied, careless or pasted."""
    responses = []
    for number, (worker, task) in enumerate((w, t) for t in tasks for w in workers):
        response = ResponseFactory(
            task=task,
            worker=worker,
            text=TEXTS[number % len(TEXTS)],
            submitted_at=NOON + timedelta(minutes=number),
            seconds=2 + number % 40,
        )
        if number % 3 == 0:
            Behaviour.objects.create(response=response, keystrokes=1, pastes=1, device="PHONE")
        responses.append(response)
    return responses


def outcome():
    """The stored flags, in the order of the responses."""
    first = Assessment.objects.order_by("pk").values_list("pk", flat=True)[0]
    assessments = Assessment.objects.order_by("pk")
    return (
        [(pk - first, *rest) for pk, *rest in assessments.values_list("pk", "position", "flags")],
        [pk - first for pk in Copying.objects.order_by("pk").values_list("pk", flat=True)],
        sorted(pk - first for pk in CopyKey.objects.values_list("response_id", flat=True)),
    )


def test_a_batch_has_the_flags_of_one_after_another():
    outcomes = []
    for size in (1, 7, 42):
        for model in (CopyKey, Copying, Assessment):
            model.objects.all().delete()
        campaign = CampaignFactory()
        tasks = TaskFactory.create_batch(6, campaign=campaign)
        responses = write(campaign, WorkerFactory.create_batch(7), tasks)
        for start in range(0, len(responses), size):
            assess(campaign=campaign, responses=responses[start : start + size])
        outcomes.append(outcome())

    alone, *batches = outcomes
    assert batches == [alone, alone]
    assert any(flags for _, _, flags in alone[0])
    assert alone[1]


def test_the_queries_for_a_batch_do_not_grow_with_it():
    campaign, workers = CampaignFactory(), WorkerFactory.create_batch(3)
    rng = random.Random(1)
    queries = []
    for count in (2, 20):
        responses = [
            ResponseFactory(task=task, worker=worker, text=f"A {rng.randbytes(20).hex(' ')}.")
            for task in TaskFactory.create_batch(count, campaign=campaign, shows_keywords=False)
            for worker in workers
        ]
        with CaptureQueriesContext(connection) as captured:
            assess(campaign=campaign, responses=responses)
        queries.append(len(captured))

    # The second batch also reads the workers' earlier answers, and writes changed flags.
    assert queries[1] <= queries[0] + 2


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the plan is SQLite's")
def test_the_latest_captions_of_several_workers_are_looked_up_by_worker():
    """Otherwise the time grows with the campaign."""
    campaign, workers = CampaignFactory(), WorkerFactory.create_batch(3)
    tasks = TaskFactory.create_batch(2, campaign=campaign)
    assess(campaign=campaign, responses=write(campaign, workers, tasks))

    with CaptureQueriesContext(connection) as queries:
        FiledCaptions(campaign, []).read_latest([worker.pk for worker in workers])

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {queries[-1]['sql']}")
        plan = [row[-1] for row in cursor.fetchall()]
    searches = [step for step in plan if "qualcontrol_assessment" in step]
    assert len(searches) == len(workers), plan
    assert all("campaign_id=? AND worker_id=?" in step for step in searches), plan
