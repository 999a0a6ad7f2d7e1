"""Many workers at the same time, each with their own database connection."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from annotate.models import Response, Task, Worker
from annotate.services.responses import Answered, discard, lock_tasks, move_places, restore
from hits.models import Claim, Hit, TaskPage
from hits.services.claims import (
    NothingToDo,
    claim_again,
    claim_tasks,
    recount_places,
    release_claims,
)
from tests.factories import (
    NOON,
    CampaignFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    TaskFactory,
    TaskPageFactory,
    WorkerFactory,
)
from tests.races import while_open
from tests.submitted import add_submitted
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

WORKERS = 200


def claim(worker: Worker, campaign: Any, count: int = 1) -> list[Task] | None:
    """Claim tasks for a new page of the worker; None if no task is left."""
    page = TaskPageFactory(hit=Hit.objects.get(campaign=campaign))
    try:
        return claim_tasks(campaign=campaign, worker=worker, page=page, count=count)
    except NothingToDo:
        return None


def campaign_with_places(*places: int) -> Any:
    campaign = CampaignFactory()
    HitFactory(hit_type=HitTypeFactory(campaign=campaign))
    for wanted in places:
        TaskFactory(campaign=campaign, wanted=wanted)
    return campaign


def assert_no_place_is_given_twice(campaign: Any) -> None:
    assert min(Task.objects.values_list("places_left", flat=True)) >= 0
    assert recount_places(campaign) == 0


@pytest.mark.parametrize("places", [[11] * 20, [67, 67, 66]])
def test_two_hundred_workers_fill_the_places_and_no_more(places):
    campaign = campaign_with_places(*places)
    workers = WorkerFactory.create_batch(WORKERS)

    given = at_once(lambda worker: claim(worker, campaign), workers)

    assert None not in given
    assert Claim.objects.count() == WORKERS
    assert_no_place_is_given_twice(campaign)


def test_workers_beyond_the_places_share_tasks_and_nobody_is_turned_away():
    campaign = campaign_with_places(*[11] * 10, 7, 3)
    workers = WorkerFactory.create_batch(WORKERS)

    given = at_once(lambda worker: claim(worker, campaign), workers)

    assert None not in given
    assert max(Task.objects.values_list("places_left", flat=True)) <= 0
    assert recount_places(campaign) == 0


def test_workers_who_take_several_images_at_once_do_not_block_each_other():
    campaign = campaign_with_places(*[15] * 12)
    workers = WorkerFactory.create_batch(60)

    given = at_once(lambda worker: claim(worker, campaign, count=3), workers)

    assert None not in given
    assert all(len({task.pk for task in tasks}) == 3 for tasks in given)
    assert_no_place_is_given_twice(campaign)


def test_fifty_workers_who_submit_pages_of_four_images_leave_nothing_over():
    campaign = campaign_with_places(*[11] * 30)
    workers = WorkerFactory.create_batch(50)

    def work(worker: Worker) -> list[int]:
        """Open and submit pages until no task is left.

        Returns, for each page that was not full, the tasks that were still open to the worker after
        it. Answers are only added here, so a task that is open then was open when the page was
        filled.
        """
        passed_over = []
        while tasks := claim(worker, campaign, count=4):
            if len(tasks) < 4:
                passed_over.append(campaign.tasks.open_to(worker).count() - len(tasks))
            with transaction.atomic():
                Worker.objects.select_for_update().get(pk=worker.pk)
                answers = [Answered(task, f"A dog, seen by {worker}.") for task in tasks]
                add_submitted(worker=worker, answers=answers, at=NOON)
        passed_over.append(campaign.tasks.open_to(worker).count())
        return passed_over

    passed_over = at_once(work, workers)

    assert all(left <= 0 for each in passed_over for left in each)
    answered = Counter(Response.objects.counting().values_list("task", flat=True))
    assert set(answered) == set(campaign.tasks.values_list("pk", flat=True))
    assert min(answered.values()) >= 11
    assert recount_places(campaign) == 0


@pytest.mark.parametrize("share", [0.5, 0.3])
def test_a_hundred_workers_at_once_leave_every_image_within_one_caption_of_its_share(share):
    campaign = CampaignFactory(config={"priming": {"share": share, "by": "response"}})
    HitFactory(hit_type=HitTypeFactory(campaign=campaign))
    TaskFactory.create_batch(10, campaign=campaign, wanted=11, shows_keywords=None)

    def work(worker: Worker) -> None:
        """Open a page. One worker in four returns it, and one submits a caption that is discarded.

        Both then open another page.
        """
        page = TaskPageFactory(hit=campaign.hits.get())
        tasks = claim_tasks(campaign=campaign, worker=None, page=page, count=1)
        if worker.pk % 4 == 0:
            release_claims(pages=[page.pk])
        elif worker.pk % 4 == 1:
            with transaction.atomic():
                lock_tasks([task.pk for task in tasks])
                answers = [Answered(task, "A dog.") for task in tasks]
                responses = add_submitted(worker=worker, answers=answers, at=NOON)
                release_claims(pages=[page.pk])
            discard(responses=responses)
        if worker.pk % 4 < 2:
            claim(worker, campaign)

    at_once(work, WorkerFactory.create_batch(100))
    while campaign.tasks.filter(places_left__gt=0).exists():
        claim(WorkerFactory(), campaign)

    for task in campaign.tasks.all():
        assert abs(task.claims.filter(primed=True).count() - share * 11) <= 1, task
        assert task.claims.count() == 11


def claim_while(rival: Callable[[], object], campaign: Any, count: int) -> list[Task]:
    """Claim tasks while another transaction runs `rival`; return the tasks."""
    return while_open(rival, lambda: claim(WorkerFactory(), campaign, count=count)) or []


@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
def test_a_page_waits_for_a_rival_rather_than_show_fewer_images():
    campaign = campaign_with_places(2, 2, 2)

    tasks = claim_while(lambda: claim(WorkerFactory(), campaign, count=2), campaign, count=3)

    assert len(tasks) == 3
    assert_no_place_is_given_twice(campaign)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
def test_a_page_that_waited_shows_no_task_that_was_finished_meanwhile():
    campaign = campaign_with_places(1, 1)
    first, second = campaign.tasks.order_by("number")

    def submit() -> None:
        add_submitted(worker=WorkerFactory(), answers=[Answered(first, "A dog.")], at=NOON)

    assert claim_while(submit, campaign, count=2) == [second]
    assert_no_place_is_given_twice(campaign)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
def test_a_page_that_waited_in_vain_for_a_place_looks_for_another():
    campaign = campaign_with_places(1, 1)
    first, second = campaign.tasks.order_by("number")

    def take_first() -> None:
        lock_tasks([first.pk, second.pk])
        claim_again(page=TaskPageFactory(hit=campaign.hits.get()).pk, tasks=[first])

    assert claim_while(take_first, campaign, count=1) == [second]
    assert_no_place_is_given_twice(campaign)


def test_a_submission_that_is_read_twice_at_once_counts_once():
    campaign = campaign_with_places(2)
    task, worker = campaign.tasks.get(), WorkerFactory()

    def submit(text: str) -> int:
        with transaction.atomic():
            Worker.objects.select_for_update().get(pk=worker.pk)
            return len(add_submitted(worker=worker, answers=[Answered(task, text)], at=NOON))

    added = at_once(submit, [f"A dog, {n} times." for n in range(8)])

    assert sum(added) == 1
    assert recount_places(campaign) == 0


def test_places_stay_right_while_pages_end_and_answers_are_discarded():
    campaign = campaign_with_places(*[20] * 5)
    for worker in WorkerFactory.create_batch(40):
        claim(worker, campaign)
    pages = list(TaskPage.objects.values_list("pk", flat=True))
    answers = [ResponseFactory(task=task) for task in list(Task.objects.all()) * 4]

    def act(item: int) -> None:
        # Two callers meet on every row, in opposite orders.
        order = 1 if item % 2 else -1
        if item % 4 < 2:
            discard(responses=answers[::order])
        else:
            release_claims(pages=pages[::order])

    at_once(act, range(16))

    assert not Claim.objects.exists()
    assert all(task.places_left == task.wanted for task in Task.objects.all())
    assert recount_places(campaign) == 0


@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
def test_of_two_restored_responses_one_takes_the_last_place():
    task = campaign_with_places(1).tasks.get()
    first, second = (ResponseFactory(task=task, status="DISCARDED") for _ in range(2))

    restored = while_open(lambda: restore(responses=[first]), lambda: restore(responses=[second]))

    assert restored == []
    assert recount_places(task.campaign) == 0


@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
@pytest.mark.parametrize("change", [1, -1])
def test_a_caller_who_waits_for_a_task_holds_no_later_one(change):
    """Otherwise two callers who change the same tasks could deadlock."""
    first, second = campaign_with_places(9, 9).tasks.order_by("pk")
    Task.objects.update(places_left=5)

    def move() -> None:
        with transaction.atomic():
            move_places(Counter({first.pk: change, second.pk: -change}))

    while_open(
        lambda: lock_tasks([first.pk]),
        move,
        meanwhile=lambda: Task.objects.select_for_update(nowait=True).get(pk=second.pk),
    )

    assert dict(Task.objects.values_list("pk", "places_left")) == {
        first.pk: 5 + change,
        second.pk: 5 - change,
    }
