"""Migrating answers that fit no task and were submitted before payments were held."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from qualcontrol.models import HeldCause, HeldPayment
from tests.factories import NOON, AssignmentFactory

pytestmark = pytest.mark.django_db(transaction=True)


def test_those_that_are_undecided_wait_for_a_person():
    waiting = AssignmentFactory(unplaced_answer="<QuestionFormAnswers/>")
    AssignmentFactory(unplaced_answer="<x/>", status="APPROVED", decided_at=NOON)
    AssignmentFactory()
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()

    executor.migrate([("hits", "0010_gone_hits_and_unknown_hits")])
    executor.loader.build_graph()
    executor.migrate(latest)

    held = HeldPayment.objects.get()
    assert (held.assignment, held.cause) == (waiting, HeldCause.NO_TASK)
    assert (held.campaign, held.worker) == (waiting.hit.campaign, waiting.account.worker)
