"""The database allows only appending to the decision log."""

import pytest
from django.db import DatabaseError, connection, transaction

from qualcontrol.models import Act, Decision
from tests.factories import NOON, CampaignFactory, WorkerFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def decision():
    return Decision.objects.create(
        campaign=CampaignFactory(), act=Act.EXCLUDE, worker=WorkerFactory(), reason="lists", at=NOON
    )


def test_a_decision_cannot_be_changed(decision):
    with pytest.raises(DatabaseError, match="only appended"), transaction.atomic():
        Decision.objects.filter(pk=decision.pk).update(reason="nothing")

    decision.refresh_from_db()
    assert decision.reason == "lists"


def test_a_decision_cannot_be_deleted(decision):
    with pytest.raises(DatabaseError, match="only appended"), transaction.atomic():
        Decision.objects.filter(pk=decision.pk).delete()

    assert Decision.objects.get() == decision


def test_raw_sql_cannot_delete_a_decision_either(decision):
    with (
        pytest.raises(DatabaseError, match="only appended"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("DELETE FROM qualcontrol_decision")

    assert Decision.objects.get() == decision


@pytest.mark.parametrize("act", [Act.EXCLUDE, Act.REJECT])
def test_a_decision_against_a_worker_has_a_reason(act):
    with pytest.raises(DatabaseError), transaction.atomic():
        Decision.objects.create(
            campaign=CampaignFactory(), act=act, worker=WorkerFactory(), at=NOON
        )


def test_a_decision_has_a_subject():
    with pytest.raises(DatabaseError), transaction.atomic():
        Decision.objects.create(campaign=CampaignFactory(), act=Act.DISCARD, at=NOON)
