"""Adding, discarding and restoring responses."""

from itertools import chain

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotate.models import Behaviour, Response, ResponseStatus, Submission
from annotate.services.responses import Answered, discard, in_batches, restore
from hits.services.claims import recount_places
from tests.factories import (
    NOON,
    CampaignFactory,
    ClaimFactory,
    ResponseFactory,
    TaskFactory,
    WorkerFactory,
)
from tests.submitted import add_submitted

pytestmark = pytest.mark.django_db


def places(task):
    task.refresh_from_db()
    return task.places_left


def submit(*answers, worker=None, **values):
    return add_submitted(worker=worker or WorkerFactory(), answers=answers, at=NOON, **values)


def test_a_submitted_answer_is_kept_with_its_submission_and_the_time_it_took():
    task, submission = TaskFactory(wanted=3), Submission.objects.create()

    (response,) = submit(Answered(task, "A dog.", seconds=42), submission=submission.pk)

    response.refresh_from_db()
    assert (response.status, response.submitted_at) == (ResponseStatus.SUBMITTED, NOON)
    assert (response.submission, response.seconds) == (submission, 42)
    assert response.caption.text == "A dog."
    assert not Behaviour.objects.exists()
    task.refresh_from_db()
    assert (task.answers_missing, task.places_left) == (2, 2)


def test_behaviour_is_stored_for_the_answers_that_have_it():
    first, second = TaskFactory.create_batch(2, campaign=CampaignFactory())
    known = {"device": "PHONE", "characters": {"typed": 12}}

    submit(Answered(first, "A dog.", behaviour=known), Answered(second, "A cat."))

    behaviour = Behaviour.objects.get()
    assert behaviour.response.task == first
    assert (behaviour.device, behaviour.characters) == ("PHONE", {"typed": 12})


@pytest.mark.parametrize("status", ["SUBMITTED", "DISCARDED"])
def test_a_second_answer_of_the_worker_to_a_task_changes_nothing(status):
    response = ResponseFactory(status=status, text="A dog.")
    before = places(response.task)

    again = submit(Answered(response.task, "Late."), worker=response.worker)

    assert again == []
    assert Response.objects.get().caption.text == "A dog."
    assert places(response.task) == before


def test_an_answer_to_a_full_task_counts_even_below_zero():
    task = TaskFactory(wanted=1)
    ResponseFactory(task=task)

    submit(Answered(task, "A dog."))

    assert places(task) == -1
    assert task.answers_missing == -1
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


def test_an_open_page_keeps_no_response_from_being_restored():
    response = ResponseFactory(task=TaskFactory(wanted=1))
    discard(responses=[response])
    ClaimFactory(task=response.task)

    assert restore(responses=[response]) == [response]

    assert places(response.task) == -1


def test_of_several_responses_to_a_task_as_many_are_restored_as_it_misses_answers():
    task = TaskFactory(wanted=3)
    counting, first, second, third = (ResponseFactory(task=task) for _ in range(4))
    discard(responses=[first, second, third])

    # One that counts takes no part of the room.
    assert restore(responses=[third, second, first, counting]) == [first, second]

    assert places(task) == 0
    assert recount_places(task.campaign) == 0


@pytest.mark.parametrize("batch", [1000, 2])
def test_many_are_discarded_and_restored_as_one_by_one(batch, monkeypatch):
    monkeypatch.setattr("shared.database.transactions.BATCH", batch)
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

    def queries(batch):
        with CaptureQueriesContext(connection) as queries:
            assert len(move(responses=batch)) == len(batch)
        return len(queries)

    assert queries(responses[:3]) == queries(responses[3:])


@pytest.mark.parametrize("batch", [1000, 3])
def test_in_batches_gives_each_response_once_in_the_order_of_the_tasks(batch, monkeypatch):
    monkeypatch.setattr("shared.database.transactions.BATCH", batch)
    task, later = TaskFactory.create_batch(2)
    responses = [ResponseFactory(task=later if n < 2 else task) for n in range(5)]

    found = list(in_batches(Response.objects.all()))

    assert [len(one) for one in found] == ([5] if batch == 1000 else [3, 2])
    assert list(chain(*found)) == [*responses[2:], *responses[:2]]


def test_the_database_lets_no_worker_answer_a_task_twice():
    response = ResponseFactory()

    with pytest.raises(IntegrityError), transaction.atomic():
        ResponseFactory(task=response.task, worker=response.worker)


def test_the_database_lets_no_response_be_without_the_time_of_its_submission():
    with pytest.raises(IntegrityError), transaction.atomic():
        ResponseFactory(submitted_at=None)
