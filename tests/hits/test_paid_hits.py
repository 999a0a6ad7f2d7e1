"""The number of paid assignments that a retired HIT keeps."""

import pytest
from django.db import IntegrityError

from hits.models import Assignment, Hit
from hits.queries.costs import spend
from tests.factories import NOON, AssignmentFactory, HitFactory

pytestmark = pytest.mark.django_db


def assignment(hit, status):
    decided_at = None if status == "SUBMITTED" else NOON
    return AssignmentFactory(hit=hit, status=status, decided_at=decided_at)


def test_retiring_a_hit_counts_its_paid_assignments_and_moves_no_money():
    hit = HitFactory(reward="0.10", fee="0.02", available=0)
    for status in ("APPROVED", "APPROVED", "REJECTED", "LOST"):
        assignment(hit, status)
    before = spend(hit.campaign)

    assert Hit.objects.filter(pk=hit.pk).retire() == 1

    hit.refresh_from_db()
    assert (hit.status, hit.paid) == ("RETIRED", 2)
    assert spend(hit.campaign) == before
    assert f"{before.paid:.2f}" == "0.24"


def test_a_retired_hit_without_assignments_has_paid_none():
    hit = HitFactory()

    Hit.objects.filter(pk=hit.pk).retire()

    hit.refresh_from_db()
    assert hit.paid == 0


def test_an_undecided_assignment_keeps_the_money_of_a_retired_hit_in_sight():
    hit = HitFactory(reward="0.10", fee="0.02", available=0)
    late = assignment(hit, "SUBMITTED")
    assignment(hit, "APPROVED")

    Hit.objects.filter(pk=hit.pk).retire()

    assert f"{spend(hit.campaign).owed:.2f}" == "0.12"
    Assignment.objects.filter(pk=late.pk).update(status="APPROVED", decided_at=NOON)
    assert f"{spend(hit.campaign).paid:.2f}" == "0.24"


def test_a_hit_that_is_open_has_no_number_of_paid_assignments():
    hit = HitFactory()

    with pytest.raises(IntegrityError, match="hit_paid_once_retired"):
        Hit.objects.filter(pk=hit.pk).update(paid=1)
