"""The quality report's workers."""

import pytest

from qualcontrol.queries.quality_report import (
    known_workers,
    latest_workers,
    ranked_workers,
    worker_summaries,
)
from tests.factories import NOON, CampaignFactory, ResponseFactory, TaskFactory, WorkerFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return CampaignFactory()


def answer(campaign, worker, count=1, **values):
    for _ in range(count):
        ResponseFactory(task=TaskFactory(campaign=campaign), worker=worker, **values)


def test_ranked_workers_counts_what_was_submitted_in_the_campaign(campaign):
    busy, idle, elsewhere = WorkerFactory.create_batch(3)
    answer(campaign, idle)
    answer(campaign, busy, 2)
    answer(CampaignFactory(), elsewhere, 3)

    assert ranked_workers(campaign) == [busy.pk, idle.pk]


def test_latest_workers_looks_at_the_latest_responses_alone(campaign):
    earlier, later = WorkerFactory.create_batch(2)
    answer(campaign, earlier, 3, submitted_at=NOON.replace(hour=8))
    answer(campaign, later, 2, submitted_at=NOON)

    assert latest_workers(campaign, most=5, among=2) == [later.pk]
    assert latest_workers(campaign, most=1, among=5) == [earlier.pk]


def test_known_workers_are_those_who_answered_in_the_campaign(campaign):
    known, stranger = WorkerFactory.create_batch(2)
    answer(campaign, known)
    answer(CampaignFactory(), stranger)

    assert list(known_workers(campaign)) == [known]


def test_summaries_have_the_order_of_the_given_workers(campaign):
    one, other = WorkerFactory.create_batch(2)
    answer(campaign, one)

    found = worker_summaries(campaign, [other.pk, one.pk])

    assert [(row.pseudonym, row.submitted) for row in found] == [
        (other.pseudonym, 0),
        (one.pseudonym, 1),
    ]
