"""What is decided about one assignment changes no other one."""

from datetime import timedelta

import pytest

from annotate.services.responses import discard
from hits.models import Assignment
from hits.services.counts import recount
from hits.services.payments import put_back, take_up
from hits.services.rejections import ask_for_rejection
from qualcontrol.models import HeldCause, HeldPayment
from qualcontrol.services.held_payments import hold_payment
from tests.factories import (
    NOON,
    AssignmentFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    UserFactory,
    WorkerAccountFactory,
)
from tests.hits.conftest import make_campaign

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.fixture
def hit():
    return HitFactory(hit_type=HitTypeFactory(campaign=make_campaign(tasks=2)))


@pytest.fixture
def pair(hit):
    """Two assignments of one worker: one submitted two days ago and one now."""
    account = WorkerAccountFactory()
    return [
        AssignmentFactory(hit=hit, account=account, submitted_at=NOON - n * DAY) for n in (2, 0)
    ]


def test_an_assignment_is_not_due_because_another_one_is(pair):
    old, new = pair

    assert take_up(pk=new.pk, submitted_until=NOON - DAY) is None
    assert take_up(pk=old.pk, submitted_until=NOON - DAY).deciding == "APPROVED"


def test_a_decision_is_put_back_alone(pair):
    first, second = (take_up(pk=each.pk, submitted_until=NOON) for each in pair)

    put_back(assignment=first)

    decided = dict(Assignment.objects.values_list("pk", "deciding"))
    assert decided == {first.pk: "", second.pk: "APPROVED"}


def test_a_decision_that_changed_meanwhile_is_not_put_back(pair):
    taken = take_up(pk=pair[0].pk, submitted_until=NOON)
    Assignment.objects.update(deciding="REJECTED")

    put_back(assignment=taken)

    assert set(Assignment.objects.values_list("deciding", flat=True)) == {"REJECTED"}


def test_a_hit_counts_its_own_assignments_and_those_that_are_decided(hit):
    AssignmentFactory(hit=hit)
    AssignmentFactory(hit=hit, status="APPROVED", decided_at=NOON)
    AssignmentFactory(status="APPROVED", decided_at=NOON)

    recount(hit.pk)

    hit.refresh_from_db()
    assert (hit.ingested, hit.settled) == (2, 1)


def test_a_rejection_ends_the_hold_of_its_own_assignment_alone(hit, pair):
    responses = []
    for assignment, task in zip(pair, hit.campaign.tasks.order_by("pk"), strict=True):
        worker = assignment.account.worker
        responses.append(ResponseFactory(task=task, worker=worker, assignment=assignment))
        about = {"campaign": hit.campaign, "worker": worker, "assignment": assignment.pk}
        hold_payment(**about, cause=HeldCause.RULES, why="Too short.", at=NOON)
    discard(responses=responses)

    ask_for_rejection(response=responses[0], reason="A list.", actor=UserFactory(), at=NOON)

    assert HeldPayment.objects.open().get().assignment_id == pair[1].pk
