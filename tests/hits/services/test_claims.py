"""The tasks that a page is given, and the stored counters of tasks."""

from dataclasses import replace

import pytest
from django.db import IntegrityError, transaction
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from annotate.models import Response, ResponseStatus, Task
from annotate.queries.progress import open_work
from annotate.services.responses import Answered, discard, restore
from hits.models import Claim
from hits.services.claims import (
    NothingToDo,
    _Choice,
    _lock_unlocked,
    claim_again,
    claim_tasks,
    recount_places,
    release_claims,
)
from tests.factories import (
    NOON,
    CampaignFactory,
    ClaimFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    TaskFactory,
    TaskPageFactory,
    WorkerFactory,
)
from tests.submitted import add_submitted

pytestmark = pytest.mark.django_db


def claim(campaign, worker=None, count=1, **values):
    """Claim tasks for a new page with these values and return them."""
    page = TaskPageFactory(hit__hit_type__campaign=campaign, **values)
    return claim_tasks(campaign=campaign, worker=worker, page=page, count=count)


def numbers(tasks):
    return [task.number for task in tasks]


def counters(task):
    task.refresh_from_db()
    return task.answers_missing, task.places_left


def test_the_emptiest_task_is_given_first_and_then_the_campaigns_order_counts():
    campaign = CampaignFactory()
    for number, places in [(1, 2), (2, 11), (3, 5), (4, 11)]:
        TaskFactory(campaign=campaign, number=number, places_left=places)

    assert numbers(claim(campaign, count=4)) == [2, 4, 3, 1]


def test_a_claim_takes_a_place_and_no_answer():
    task = TaskFactory(wanted=11)

    assert claim(task.campaign) == [task]

    assert counters(task) == (11, 10)


def test_a_worker_is_given_no_task_they_answered():
    campaign = CampaignFactory()
    answered, discarded, free = TaskFactory.create_batch(3, campaign=campaign)
    worker = WorkerFactory()
    ResponseFactory(task=answered, worker=worker)
    ResponseFactory(task=discarded, worker=worker, status="DISCARDED")

    assert claim(campaign, worker, count=3) == [free]


def test_claims_turn_nobody_away():
    task = TaskFactory(wanted=1)
    for _ in range(5):
        assert claim(task.campaign) == [task]

    assert counters(task) == (1, -4)


def test_a_task_with_a_place_comes_before_one_that_other_pages_show():
    campaign = CampaignFactory()
    shown, free = TaskFactory(campaign=campaign, wanted=2), TaskFactory(campaign=campaign, wanted=1)
    ClaimFactory.create_batch(2, task=shown)

    assert claim(campaign, count=2) == [free, shown]


def test_tasks_that_were_seen_on_another_page_come_last():
    campaign = CampaignFactory()
    seen, other = TaskFactory(campaign=campaign), TaskFactory(campaign=campaign, wanted=2)
    ClaimFactory(task=seen, page__marketplace_id="AWORKER1")
    ClaimFactory(task=seen, page__marketplace_id="AWORKER2")

    assert claim(campaign, count=1, marketplace_id="AWORKER1") == [other]
    assert claim(campaign, count=2, marketplace_id="AWORKER2") == [other, seen]


@pytest.mark.parametrize("is_known", [True, False])
def test_the_tasks_that_plain_sql_finds_are_those_of_the_querysets(is_known):
    campaign = CampaignFactory()
    tasks = TaskFactory.create_batch(9, campaign=campaign, wanted=3)
    answered, waiting, full, done, given_back, elsewhere, here, *others = tasks
    TaskFactory(wanted=3)  # of another campaign
    worker = WorkerFactory() if is_known else None
    if worker:
        ResponseFactory(task=answered, worker=worker)
    Task.objects.filter(pk=waiting.pk).update(at_once=0)
    Task.objects.filter(pk=others[0].pk).update(at_once=1)
    Task.objects.filter(pk=full.pk).update(places_left=0)
    Task.objects.filter(pk=done.pk).update(answers_missing=0, places_left=0)
    page = TaskPageFactory(hit__hit_type__campaign=campaign, marketplace_id="AWORKER1")
    for task, hit, takes_place in [
        (given_back, page.hit, False),
        (here, page.hit, True),
        (elsewhere, HitFactory(hit_type=page.hit.hit_type), False),
    ]:
        other = TaskPageFactory(hit=hit, marketplace_id="AWORKER1")
        Claim.objects.create(task=task, page=other, takes_place=takes_place)
    # Of another worker.
    Claim.objects.create(task=others[1], page=TaskPageFactory(hit=page.hit))

    choice = _Choice(campaign, worker, page, 1)
    free = list(choice.with_place.emptiest_first())

    assert {given_back, *others} <= set(free)
    assert {waiting, full, done, here, elsewhere}.isdisjoint(free)
    with transaction.atomic():
        assert _lock_unlocked(replace(choice, count=len(free))) == free
        assert _lock_unlocked(replace(choice, count=len(free) + 1)) is None


def test_a_task_that_was_given_back_may_be_given_again():
    task = TaskFactory()
    claim(task.campaign)
    release_claims(pages=[Claim.objects.get().page_id])

    assert claim(task.campaign) == [task]


def test_fewer_tasks_than_asked_for_are_better_than_none():
    campaign = CampaignFactory(tasks=2)

    assert len(claim(campaign, count=5)) == 2


def test_a_task_that_misses_no_answer_is_not_given():
    task = TaskFactory(wanted=1)
    ResponseFactory(task=task)

    with pytest.raises(NothingToDo), transaction.atomic():
        claim(task.campaign)

    assert not Claim.objects.exists()


def test_another_campaigns_tasks_are_not_given():
    TaskFactory()

    with pytest.raises(NothingToDo):
        claim(CampaignFactory())


def test_a_claim_is_released_once_however_often_that_is_asked():
    task = TaskFactory(wanted=3)
    claim(task.campaign)
    page = Claim.objects.get().page_id

    release_claims(pages=[page])
    release_claims(pages=[page])

    assert counters(task) == (3, 3)
    assert not Claim.objects.exists()


def test_the_database_lets_no_page_claim_a_task_twice():
    made = ClaimFactory()

    with pytest.raises(IntegrityError), transaction.atomic():
        ClaimFactory(task=made.task, page=made.page)


@pytest.mark.parametrize("values", [{"answers_missing": 12}, {"places_left": 12}])
def test_the_database_lets_no_task_miss_more_answers_than_it_wants(values):
    task = TaskFactory(wanted=11)

    with pytest.raises(IntegrityError), transaction.atomic():
        Task.objects.filter(pk=task.pk).update(**values)


def test_the_database_lets_no_task_have_more_places_than_answers_missing():
    task = TaskFactory(wanted=11)

    with pytest.raises(IntegrityError), transaction.atomic():
        Task.objects.filter(pk=task.pk).update(answers_missing=5, places_left=6)


def test_open_work_counts_answers_that_are_missing_whatever_pages_are_open():
    campaign = CampaignFactory()
    task = TaskFactory(campaign=campaign, wanted=3)
    full = TaskFactory(campaign=campaign, wanted=1)
    ResponseFactory(task=full)
    ResponseFactory(task=full)
    ClaimFactory.create_batch(5, task=task)
    ResponseFactory(task=task)

    work = open_work(campaign)

    assert (work.missing, work.tasks) == (2, 1)


def test_a_recount_mends_wrong_numbers_and_says_so():
    campaign = CampaignFactory()
    task = TaskFactory(campaign=campaign, wanted=3)
    ClaimFactory(task=task)
    ResponseFactory(task=task)
    ResponseFactory(task=task, status=ResponseStatus.DISCARDED)
    Task.objects.filter(pk=task.pk).update(answers_missing=3, places_left=3)

    wrong = [recount_places(campaign), recount_places(campaign)]

    assert wrong == [1, 0]
    assert counters(task) == (2, 1)


def test_a_claim_takes_the_same_few_queries_in_any_campaign(django_assert_num_queries):
    campaign = CampaignFactory(tasks=30)
    worker = WorkerFactory()
    pages = TaskPageFactory.create_batch(3, hit__hit_type__campaign=campaign)
    claim_tasks(campaign=campaign, worker=worker, page=pages[0], count=20)

    # The tasks with their images, their lock and their places, the claims, and the two ends of the
    # savepoint.
    for count, page in zip((2, 5), pages[1:], strict=True):
        with django_assert_num_queries(7):
            claim_tasks(campaign=campaign, worker=worker, page=page, count=count)


def test_one_task_is_claimed_without_a_savepoint(django_assert_num_queries):
    page = TaskPageFactory(hit__hit_type__campaign=CampaignFactory(tasks=3))

    with django_assert_num_queries(4):
        claim_tasks(campaign=page.hit.campaign, worker=None, page=page, count=1)


picks = st.integers(0, 1000)


class Counters(RuleBasedStateMachine):
    """Runs random sequences of pages, submissions, timeouts and reviews, including repeated
    ones."""

    def __init__(self):
        super().__init__()
        self.undo = transaction.atomic()
        self.undo.__enter__()
        self.campaign = CampaignFactory()
        self.hit = HitFactory(hit_type=HitTypeFactory(campaign=self.campaign))
        self.tasks = [TaskFactory(campaign=self.campaign, wanted=2) for _ in range(3)]
        self.workers = WorkerFactory.create_batch(4)

    def teardown(self):
        transaction.set_rollback(True)
        self.undo.__exit__(None, None, None)

    def one_of(self, queryset, pick):
        """A random row, or None if there are none."""
        rows = list(queryset.order_by("pk"))
        return rows[pick % len(rows)] if rows else None

    @rule(worker=picks, count=st.integers(1, 3))
    def open(self, worker, count):
        worker = self.workers[worker % len(self.workers)]
        answered = set(worker.responses.values_list("task", flat=True))
        unfinished = {task.pk for task in Task.objects.filter(answers_missing__gt=0)}
        page = TaskPageFactory(hit=self.hit)

        try:
            # The error ends the transaction of a claim.
            with transaction.atomic():
                tasks = claim_tasks(campaign=self.campaign, worker=worker, page=page, count=count)
        except NothingToDo:
            tasks = []

        given = [task.pk for task in tasks]
        assert len(given) == len(set(given)) == min(count, len(unfinished - answered))
        assert set(given) <= unfinished - answered

    @rule(worker=picks, task=picks)
    def submit(self, worker, task):
        worker, task = self.workers[worker % 4], self.tasks[task % 3]
        is_known = worker.responses.filter(task=task).exists()

        new = add_submitted(worker=worker, answers=[Answered(task, "A dog runs.")], at=NOON)

        assert bool(new) is not is_known

    @rule(pick=picks)
    def release(self, pick):
        claim = self.one_of(Claim.objects.all(), pick)
        if claim is not None:
            release_claims(pages=[claim.page_id])
            assert not Claim.objects.filter(page=claim.page).exists()

    @rule(task=picks)
    def claim_again(self, task):
        page = TaskPageFactory(hit=self.hit)
        claim_again(page=page.pk, tasks=[self.tasks[task % 3]])

    @rule(pick=picks)
    def discard(self, pick):
        response = self.one_of(Response.objects.all(), pick)
        if response is not None:
            was_counting = response.status == ResponseStatus.SUBMITTED
            assert bool(discard(responses=[response])) is was_counting

    @rule(pick=picks)
    def restore(self, pick):
        response = self.one_of(Response.objects.all(), pick)
        if response is not None:
            fits = response.task.answers_missing > 0
            was_discarded = response.status == ResponseStatus.DISCARDED
            assert bool(restore(responses=[response])) is (was_discarded and fits)

    @invariant()
    def counters_equal_the_recount(self):
        assert recount_places(self.campaign) == 0

    @invariant()
    def no_worker_has_a_task_twice(self):
        for worker in self.workers:
            answered = list(worker.responses.values_list("task", flat=True))
            assert len(answered) == len(set(answered))


def test_counters_stay_right_whatever_workers_and_reviewers_do():
    quick = hypothesis_settings(max_examples=10, stateful_step_count=20, deadline=None)

    run_state_machine_as_test(Counters, settings=quick)
