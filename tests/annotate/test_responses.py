"""Answers: kept, counted once submitted, discarded and restored."""

from datetime import timedelta
from itertools import chain

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotate.models import Claim, ClaimStatus, Response, ResponseStatus
from annotate.services.campaigns import recount_places
from annotate.services.claims import release_claims
from annotate.services.responses import (
    confirm_submitted,
    discard,
    in_lots,
    restore,
    store_answer,
)
from tests.factories import (
    NOON,
    CampaignFactory,
    ClaimFactory,
    ResponseFactory,
    TaskFactory,
    WorkerFactory,
)

pytestmark = pytest.mark.django_db


def store(claim, text="A brown dog runs.", at=NOON):
    return store_answer(task=claim.task, worker=claim.worker, answer=text, at=at, claim=claim)


def places(task):
    task.refresh_from_db()
    return task.places_left


def test_an_answer_is_kept_with_its_claim_and_the_time_it_took():
    claim = ClaimFactory()

    response = store_answer(
        task=claim.task, worker=claim.worker, answer="A dog.", at=NOON, claim=claim, seconds=42
    )

    response.refresh_from_db()
    assert (response.status, response.claim, response.seconds) == ("STORED", claim, 42)
    assert response.caption.text == "A dog."


def test_storing_takes_no_further_place():
    claim = ClaimFactory()

    store(claim)

    assert places(claim.task) == claim.task.wanted - 1


def test_an_answer_sent_again_before_it_was_submitted_replaces_the_first():
    claim = ClaimFactory()
    first = store(claim, "A dog.")

    second = store(claim, "A brown dog.", at=NOON + timedelta(minutes=1))

    assert second == first
    assert Response.objects.get().caption.text == "A brown dog."


@pytest.mark.parametrize("status", ["SUBMITTED", "DISCARDED"])
def test_an_answer_sent_again_after_it_was_submitted_changes_nothing(status):
    response = ResponseFactory(status=status, submitted_at=NOON, text="A dog.")

    again = store_answer(task=response.task, worker=response.worker, answer="Late.", at=NOON)

    assert again == response
    assert Response.objects.get().caption.text == "A dog."


def test_an_answer_to_a_later_claim_of_the_same_task_belongs_to_that_claim():
    earlier = ClaimFactory()
    store(earlier)
    release_claims(claims=[earlier])
    later = ClaimFactory(task=earlier.task, worker=earlier.worker)

    response = store(later)

    response.refresh_from_db()
    assert response.claim == later


def test_a_submitted_answer_counts_and_its_claim_is_used():
    claim = ClaimFactory()
    response = store(claim)

    assert confirm_submitted(response=response, at=NOON) is True

    claim.refresh_from_db()
    response.refresh_from_db()
    assert (claim.status, response.status) == (ClaimStatus.USED, ResponseStatus.SUBMITTED)
    assert places(claim.task) == claim.task.wanted - 1


def test_a_submission_reported_twice_counts_once():
    claim = ClaimFactory()
    response = store(claim)
    confirm_submitted(response=response, at=NOON)

    again = confirm_submitted(response=response, at=NOON + timedelta(hours=1))

    response.refresh_from_db()
    assert again is False
    assert response.submitted_at == NOON
    assert places(claim.task) == claim.task.wanted - 1


def test_an_answer_that_came_after_its_lease_still_counts_even_below_zero():
    task = TaskFactory(wanted=1)
    late = ClaimFactory(task=task)
    response = store(late)
    release_claims(claims=[late])
    task.refresh_from_db()
    ClaimFactory(task=task)

    confirm_submitted(response=response, at=NOON)

    late.refresh_from_db()
    assert late.status == ClaimStatus.USED
    assert places(task) == -1
    assert recount_places(task.campaign) == 0


def test_an_answer_without_a_claim_takes_a_place_when_it_is_submitted():
    task = TaskFactory()
    response = store_answer(task=task, worker=WorkerFactory(), answer="A dog.", at=NOON)

    confirm_submitted(response=response, at=NOON)

    assert places(task) == task.wanted - 1
    assert recount_places(task.campaign) == 0


def test_a_discarded_response_frees_its_place_and_keeps_its_caption():
    response = ResponseFactory(text="A dog.")

    moved = discard(responses=[response])

    response.refresh_from_db()
    assert moved == [response]
    assert response.status == ResponseStatus.DISCARDED
    assert response.caption.text == "A dog."
    assert places(response.task) == response.task.wanted


def test_discarding_twice_frees_one_place():
    response = ResponseFactory()

    moved = [discard(responses=[response]), discard(responses=[response])]

    assert moved == [[response], []]
    assert places(response.task) == response.task.wanted


def test_an_answer_that_was_not_submitted_cannot_be_discarded():
    response = ResponseFactory(status="STORED")

    assert discard(responses=[response]) == []

    response.refresh_from_db()
    assert response.status == ResponseStatus.STORED


def test_a_restored_response_takes_its_place_again():
    response = ResponseFactory()
    discard(responses=[response])

    restored = restore(responses=[response])

    response.refresh_from_db()
    assert restored == [response]
    assert response.status == ResponseStatus.SUBMITTED
    assert places(response.task) == response.task.wanted - 1


def test_restoring_what_counts_changes_nothing():
    response = ResponseFactory()

    assert restore(responses=[response]) == []

    assert places(response.task) == response.task.wanted - 1


def test_a_response_whose_place_was_filled_is_not_restored():
    response = ResponseFactory(task=TaskFactory(wanted=1))
    discard(responses=[response])
    response.task.refresh_from_db()
    ResponseFactory(task=response.task)

    assert restore(responses=[response]) == []

    response.refresh_from_db()
    assert response.status == ResponseStatus.DISCARDED
    assert places(response.task) == 0


def test_of_several_responses_to_a_task_as_many_are_restored_as_it_has_places():
    task = TaskFactory(wanted=3)
    counting, first, second, third = (ResponseFactory(task=task) for _ in range(4))
    discard(responses=[first, second, third])

    # One that counts takes no part of the room.
    assert restore(responses=[third, second, first, counting]) == [first, second]

    assert places(task) == 0
    assert recount_places(task.campaign) == 0


@pytest.mark.parametrize("lot", [1000, 2])
def test_many_are_discarded_and_restored_as_one_by_one(lot, monkeypatch):
    monkeypatch.setattr("annotate.services.places.LOT", lot)
    campaign = CampaignFactory()
    tasks = TaskFactory.create_batch(3, campaign=campaign)
    kept = ResponseFactory(task=tasks[0])
    many = [ResponseFactory(task=task) for task in [*tasks, *tasks[:2], tasks[0]]]
    gone, *rest = many
    discard(responses=[gone])

    assert sorted(r.pk for r in discard(responses=many)) == [r.pk for r in rest]
    assert list(Response.objects.counting()) == [kept]
    assert recount_places(campaign) == 0

    assert sorted(r.pk for r in restore(responses=many)) == [r.pk for r in many]
    assert Response.objects.counting().count() == 7
    assert recount_places(campaign) == 0


@pytest.mark.parametrize("move", [discard, restore])
def test_moving_many_takes_as_many_queries_as_moving_a_few(move):
    campaign = CampaignFactory(tasks=13)
    responses = [ResponseFactory(task=task) for task in campaign.tasks.all()]
    if move is restore:
        discard(responses=responses)

    def queries(lot):
        with CaptureQueriesContext(connection) as queries:
            assert len(move(responses=lot)) == len(lot)
        return len(queries)

    assert queries(responses[:3]) == queries(responses[3:])


@pytest.mark.parametrize("lot", [1000, 3])
def test_in_lots_gives_each_response_once_in_the_order_of_the_tasks(lot, monkeypatch):
    monkeypatch.setattr("annotate.services.places.LOT", lot)
    task, later = TaskFactory.create_batch(2)
    responses = [ResponseFactory(task=later if n < 2 else task) for n in range(5)]

    found = list(in_lots(Response.objects.all()))

    assert [len(one) for one in found] == ([5] if lot == 1000 else [3, 2])
    assert list(chain(*found)) == [*responses[2:], *responses[:2]]


def test_the_database_lets_no_worker_answer_a_task_twice():
    response = ResponseFactory()

    with pytest.raises(IntegrityError), transaction.atomic():
        ResponseFactory(task=response.task, worker=response.worker)


@pytest.mark.parametrize(
    ("status", "submitted_at"), [("STORED", NOON), ("SUBMITTED", None), ("DISCARDED", None)]
)
def test_the_database_keeps_status_and_time_of_submission_together(status, submitted_at):
    with pytest.raises(IntegrityError), transaction.atomic():
        ResponseFactory(status=status, submitted_at=submitted_at)


def test_the_database_lets_no_two_responses_use_one_claim():
    claim = ClaimFactory()
    store(claim)

    with pytest.raises(IntegrityError), transaction.atomic():
        ResponseFactory(task=claim.task, claim=Claim.objects.get())
