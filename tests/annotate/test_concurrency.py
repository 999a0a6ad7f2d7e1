"""Many workers at once, each with a database connection of their own: the rules hold on whatever
database the run is given."""

import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections, transaction

from annotate.models import Claim, Response, Task, Worker
from annotate.services.campaigns import recount_places
from annotate.services.claims import NothingToDo, claim_tasks, release_claims
from annotate.services.responses import confirm_submitted, discard, store_answer
from tests.factories import NOON, CampaignFactory, ResponseFactory, TaskFactory, WorkerFactory
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

WORKERS = 200


def claim(worker: Worker, campaign: Any, count: int = 1) -> list[Claim] | None:
    """The worker's claims; None where they were told that nothing is left."""
    try:
        return claim_tasks(
            campaign=campaign,
            worker=worker,
            count=count,
            at=NOON,
            expires_at=NOON + timedelta(hours=1),
        )
    except NothingToDo:
        return None


def campaign_with_places(*places: int) -> Any:
    campaign = CampaignFactory()
    for wanted in places:
        TaskFactory(campaign=campaign, wanted=wanted)
    return campaign


def assert_nobody_is_over(campaign: Any) -> None:
    held = Counter(Claim.objects.held().values_list("task", flat=True))
    wanted = dict(Task.objects.values_list("pk", "wanted"))
    assert all(number <= wanted[task] for task, number in held.items())
    assert min(Task.objects.values_list("places_left", flat=True)) >= 0
    assert recount_places(campaign) == 0


@pytest.mark.parametrize("places", [[11] * 20, [67, 67, 66]])
def test_two_hundred_workers_fill_the_places_and_no_more(places):
    campaign = campaign_with_places(*places)
    workers = WorkerFactory.create_batch(WORKERS)

    given = at_once(lambda worker: claim(worker, campaign), workers)

    assert None not in given
    assert Claim.objects.held().count() == WORKERS
    assert_nobody_is_over(campaign)


def test_who_comes_too_late_is_told_so_and_nobody_else_is():
    campaign = campaign_with_places(*[11] * 10, 7, 3)
    workers = WorkerFactory.create_batch(WORKERS)

    given = at_once(lambda worker: claim(worker, campaign), workers)

    assert given.count(None) == WORKERS - 120
    assert Claim.objects.held().count() == 120
    assert_nobody_is_over(campaign)


def test_workers_who_take_several_images_at_once_do_not_block_each_other():
    campaign = campaign_with_places(*[15] * 12)
    workers = WorkerFactory.create_batch(60)

    given = at_once(lambda worker: claim(worker, campaign, count=3), workers)

    assert None not in given
    assert all(len({made.task_id for made in claims}) == len(claims) for claims in given)
    assert_nobody_is_over(campaign)


def test_fifty_workers_who_take_pages_of_four_images_leave_nothing_over_and_get_no_short_page():
    campaign = campaign_with_places(*[11] * 30)
    workers = WorkerFactory.create_batch(50)

    def work(worker: Worker) -> list[int]:
        """Take pages and answer them until nothing is left; tasks still open to the worker after
        each page with fewer images than it holds. Places only become fewer here, so what is open
        then was open when the page was filled."""
        passed_over = []
        while claims := claim(worker, campaign, count=4):
            if len(claims) < 4:
                passed_over.append(campaign.tasks.open_to(worker).count())
            for made in claims:
                text = f"A dog, seen by {worker}."
                response = store_answer(
                    task=made.task, worker=worker, answer=text, at=NOON, claim=made
                )
                confirm_submitted(response=response, at=NOON)
        passed_over.append(campaign.tasks.open_to(worker).count())
        return passed_over

    passed_over = at_once(work, workers)

    assert not any(any(each) for each in passed_over)
    answered = Counter(Response.objects.counting().values_list("task", flat=True))
    assert answered == dict.fromkeys(campaign.tasks.values_list("pk", flat=True), 11)
    assert Claim.objects.count() == len(set(Claim.objects.values_list("worker", "task"))) == 330
    assert recount_places(campaign) == 0


def somebody_waits_for_us() -> bool:
    """Whether another transaction waits for what this one has locked."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks "
            "WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
        )
        return cursor.fetchone()[0] > 0


def wait_until_blocked_or_done(future: Future[Any]) -> None:
    while not (future.done() or somebody_waits_for_us()):
        threading.Event().wait(0.01)


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="transactions run one by one")
def test_a_worker_waits_for_a_rival_rather_than_take_a_page_with_fewer_images():
    campaign = campaign_with_places(2, 2, 1)
    first, second = WorkerFactory.create_batch(2)

    def claim_three() -> list[Claim] | None:
        try:
            return claim(second, campaign, count=3)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            claim(first, campaign, count=2)
            later = pool.submit(claim_three)
            wait_until_blocked_or_done(later)
        claims = later.result()

    assert [made.task.number for made in claims or []] == sorted(
        campaign.tasks.values_list("number", flat=True)
    )
    assert_nobody_is_over(campaign)


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="transactions run one by one")
def test_who_waited_in_vain_looks_again_for_another_task():
    campaign = campaign_with_places(1, 1)
    first, second = WorkerFactory.create_batch(2)
    claims = claim(first, campaign, count=1) or []

    def claim_two() -> list[Claim] | None:
        try:
            return claim(second, campaign, count=2)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            claim(first, campaign, count=1)
            release_claims(claims=claims)
            later = pool.submit(claim_two)
            wait_until_blocked_or_done(later)
        given = later.result()

    assert [made.task for made in given or []] == [claims[0].task]
    assert_nobody_is_over(campaign)


def test_a_double_click_takes_two_different_tasks_and_never_one_twice():
    campaign = campaign_with_places(11, 11, 11)
    worker = WorkerFactory()

    given = at_once(lambda _: claim(worker, campaign), range(6))

    assert sorted(len(claims) for claims in given if claims) == [1, 1, 1]
    assert sorted(claims[0].task.number for claims in given if claims) == sorted(
        campaign.tasks.values_list("number", flat=True)
    )
    assert_nobody_is_over(campaign)


def test_a_form_that_is_sent_twice_at_once_is_one_response():
    campaign = campaign_with_places(2)
    worker = WorkerFactory()
    (made,) = claim(worker, campaign) or []

    def send(text: str) -> int:
        response = store_answer(task=made.task, worker=worker, answer=text, at=NOON, claim=made)
        return response.pk

    stored = at_once(send, ["A brown dog.", "A brown dog runs."] * 4)

    assert len(set(stored)) == 1
    assert worker.responses.get().caption.text in {"A brown dog.", "A brown dog runs."}


def test_a_submission_that_is_read_twice_at_once_counts_once():
    response = ResponseFactory(status="STORED")

    counted = at_once(lambda _: confirm_submitted(response=response, at=NOON), range(8))

    assert counted.count(True) == 1
    assert recount_places(response.task.campaign) == 0


def test_places_stay_right_while_claims_are_released_and_answers_discarded():
    campaign = campaign_with_places(*[20] * 5)
    claims = [claim(worker, campaign) for worker in WorkerFactory.create_batch(40)]
    answers = [ResponseFactory(task=task) for task in list(Task.objects.all()) * 4]

    def act(item: int) -> object:
        # Two callers meet on every row, in opposite orders.
        order = 1 if item % 2 else -1
        if item % 4 < 2:
            return discard(responses=answers[::order])
        return release_claims(claims=[made for held in claims[::order] for made in held or []])

    at_once(act, range(16))

    assert not Claim.objects.held().exists()
    assert all(task.places_left == task.wanted for task in Task.objects.all())
    assert recount_places(campaign) == 0
