"""Decisions about payments: of one assignment alone, and which can be rejected."""

from datetime import timedelta

import pytest
from django.urls import reverse

from annotate.services.responses import discard
from hits.models import Assignment
from hits.reconcile.storing import recount
from hits.services.payments import ask_for_rejection, put_back, take_up
from qualcontrol.models import Act, Decision, HeldCause, HeldPayment
from qualcontrol.services.errors import CannotReject, ReasonMissing
from qualcontrol.services.held_payments import hold_payment
from tests.factories import (
    NOON,
    AssignmentFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    UserFactory,
    WorkerAccountFactory,
    make_campaign,
)

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

    taken = take_up(keys=[new.pk, old.pk], submitted_until=NOON - DAY).assignments

    assert {pk: each.deciding for pk, each in taken.items()} == {old.pk: "APPROVED"}


def test_a_decision_is_put_back_alone(pair):
    first, second = pair
    taken = take_up(keys=[first.pk, second.pk], submitted_until=NOON)

    put_back(assignment=taken.assignments[first.pk])

    decided = dict(Assignment.objects.values_list("pk", "deciding"))
    assert decided == {first.pk: "", second.pk: "APPROVED"}


def test_a_decision_that_changed_meanwhile_is_not_put_back(pair):
    taken = take_up(keys=[pair[0].pk], submitted_until=NOON).assignments[pair[0].pk]
    Assignment.objects.update(deciding="REJECTED")

    put_back(assignment=taken)

    assert set(Assignment.objects.values_list("deciding", flat=True)) == {"REJECTED"}


def test_a_hit_counts_its_own_assignments_and_those_that_are_decided(hit):
    AssignmentFactory(hit=hit)
    AssignmentFactory(hit=hit, status="APPROVED", decided_at=NOON)
    AssignmentFactory(status="APPROVED", decided_at=NOON)

    recount([hit.pk])

    hit.refresh_from_db()
    assert (hit.ingested, hit.settled) == (2, 1)


def test_a_rejection_ends_the_hold_of_its_own_assignment_alone(hit, pair):
    responses = []
    for assignment, task in zip(pair, hit.campaign.tasks.order_by("pk"), strict=True):
        worker = assignment.account.worker
        responses.append(ResponseFactory(task=task, worker=worker, assignment=assignment))
        about = {"campaign": hit.campaign, "worker": worker, "submission": assignment.pk}
        hold_payment(**about, cause=HeldCause.RULES, why="Too short.", at=NOON)
    discard(responses=responses)

    ask_for_rejection(response=responses[0], reason="A list.", actor=UserFactory(), at=NOON)

    assert HeldPayment.objects.open().get().submission_id == pair[1].pk


@pytest.fixture
def assignment():
    """A submitted assignment with two images; the response to the first was discarded."""
    campaign = make_campaign(tasks=2)
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign))
    made = AssignmentFactory(hit=hit)
    for task in campaign.tasks.order_by("number"):
        ResponseFactory(task=task, worker=made.account.worker, assignment=made)
    discard(responses=responses_of(made)[:1])
    return made


def responses_of(assignment):
    return list(assignment.submission.responses.order_by("pk"))


def ask(assignment, reason="A list of words."):
    ask_for_rejection(
        response=responses_of(assignment)[0], reason=reason, actor=UserFactory(), at=NOON
    )


def test_an_assignment_of_which_a_part_is_used_cannot_be_rejected(assignment):
    with pytest.raises(CannotReject, match="Work that is used is paid"):
        ask(assignment)


def test_an_assignment_of_which_nothing_is_used_can_be_rejected(assignment):
    discard(responses=responses_of(assignment))

    ask(assignment)

    assert Decision.objects.get(act=Act.REJECT).reason == "A list of words."


def test_an_assignment_is_rejected_once_whichever_of_its_responses_is_named(assignment):
    discard(responses=responses_of(assignment))
    ask(assignment)
    other = responses_of(assignment)[1]

    with pytest.raises(CannotReject, match="already scheduled"):
        ask_for_rejection(response=other, reason="Again.", actor=UserFactory(), at=NOON)

    assert Decision.objects.get(act=Act.REJECT).reason == "A list of words."


@pytest.mark.parametrize("status", ["APPROVED", "REJECTED", "LOST"])
def test_a_decided_assignment_cannot_be_rejected(assignment, status):
    discard(responses=responses_of(assignment))
    type(assignment).objects.update(status=status, decided_at=NOON)

    with pytest.raises(CannotReject, match="no longer has" if status == "LOST" else status.lower()):
        ask(assignment)


def test_a_rejection_needs_words_for_the_worker(assignment):
    discard(responses=responses_of(assignment))

    with pytest.raises(ReasonMissing):
        ask(assignment, reason=" ")


def test_the_page_keeps_the_words_and_says_what_is_not_possible(client, assignment):
    client.force_login(UserFactory())
    response = responses_of(assignment)[0]
    address = reverse("hits:reject", args=[assignment.hit.campaign.slug, response.pk])

    without_reason = client.post(address)
    refused = client.post(address, {"reason": "No."}, follow=True)
    discard(responses=responses_of(assignment))
    taken = client.post(address, {"reason": "The text is of another image."})

    assert without_reason.status_code == 422
    assert "Work that is used is paid" in refused.content.decode()
    assert taken.status_code == 302
    assert Decision.objects.get(act=Act.REJECT).reason == "The text is of another image."
