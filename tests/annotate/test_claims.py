"""Places of tasks: given to workers, kept, given back, and counted right whatever happens."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from annotate.models import Claim, ClaimStatus, Response, ResponseStatus, Task
from annotate.services.campaigns import open_work, recount_places
from annotate.services.claims import NothingToDo, claim_tasks, release_claims
from annotate.services.responses import confirm_submitted, discard, restore, store_answer
from tests.factories import (
    NOON,
    CampaignFactory,
    ClaimFactory,
    ResponseFactory,
    TaskFactory,
    WorkerFactory,
)

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def claim(campaign, worker, count=1, at=NOON):
    return claim_tasks(campaign=campaign, worker=worker, count=count, at=at, expires_at=at + HOUR)


def numbers(claims):
    return [claim.task.number for claim in claims]


def test_the_emptiest_task_is_given_first_and_then_the_campaigns_order_counts():
    campaign = CampaignFactory()
    for number, places in [(1, 2), (2, 11), (3, 5), (4, 11)]:
        TaskFactory(campaign=campaign, number=number, places_left=places)

    claims = claim(campaign, WorkerFactory(), count=4)

    assert numbers(claims) == [2, 4, 3, 1]


def test_claiming_takes_a_place_and_says_until_when():
    task = TaskFactory()

    (made,) = claim(task.campaign, WorkerFactory())

    task.refresh_from_db()
    assert task.places_left == task.wanted - 1
    assert (made.claimed_at, made.expires_at) == (NOON, NOON + HOUR)


def test_a_worker_is_given_no_task_they_answered_or_hold():
    campaign = CampaignFactory()
    answered, discarded, held, free = TaskFactory.create_batch(4, campaign=campaign)
    worker = WorkerFactory()
    ResponseFactory(task=answered, worker=worker)
    ResponseFactory(task=discarded, worker=worker, status="DISCARDED", submitted_at=NOON)
    ClaimFactory(task=held, worker=worker)

    claims = claim(campaign, worker, count=4)

    assert [made.task for made in claims] == [free]


def test_a_task_that_a_worker_gave_back_may_be_given_to_them_again():
    task = TaskFactory()
    worker = WorkerFactory()
    release_claims(claims=claim(task.campaign, worker))

    (again,) = claim(task.campaign, worker)

    assert again.task == task


def test_fewer_tasks_than_asked_for_are_better_than_none():
    campaign = CampaignFactory(tasks=2)

    assert len(claim(campaign, WorkerFactory(), count=5)) == 2


def test_a_task_without_a_place_is_not_given():
    task = TaskFactory(places_left=0)

    with pytest.raises(NothingToDo):
        claim(task.campaign, WorkerFactory())

    assert not Claim.objects.exists()


def test_another_campaigns_tasks_are_not_given():
    TaskFactory()

    with pytest.raises(NothingToDo):
        claim(CampaignFactory(), WorkerFactory())


def test_a_claim_is_released_once_however_often_that_is_asked():
    task = TaskFactory()
    claims = claim(task.campaign, WorkerFactory())

    released = [release_claims(claims=claims), release_claims(claims=claims)]

    task.refresh_from_db()
    assert released == [1, 0]
    assert task.places_left == task.wanted


def test_a_used_claim_is_not_released():
    task = TaskFactory()
    worker = WorkerFactory()
    (made,) = claim(task.campaign, worker)
    confirm_submitted(
        response=store_answer(task=task, worker=worker, answer="A dog.", at=NOON, claim=made),
        at=NOON,
    )

    assert release_claims(claims=[made]) == 0

    task.refresh_from_db()
    assert task.places_left == task.wanted - 1


def test_a_lease_lapses_when_its_time_is_over_and_not_before():
    made = ClaimFactory()

    assert not Claim.objects.lapsed(made.expires_at - timedelta(seconds=1)).exists()
    assert Claim.objects.lapsed(made.expires_at).get() == made


def test_the_database_lets_no_worker_hold_a_task_twice():
    made = ClaimFactory()

    with pytest.raises(IntegrityError), transaction.atomic():
        ClaimFactory(task=made.task, worker=made.worker)


def test_the_database_lets_no_lease_end_before_it_begins():
    with pytest.raises(IntegrityError), transaction.atomic():
        ClaimFactory(expires_at=NOON)


def test_the_database_lets_no_task_have_more_places_than_it_wants():
    task = TaskFactory()

    with pytest.raises(IntegrityError), transaction.atomic():
        Task.objects.filter(pk=task.pk).update(places_left=task.wanted + 1)


def test_open_work_counts_what_workers_are_busy_with():
    campaign = CampaignFactory()
    task = TaskFactory(campaign=campaign, wanted=3)
    TaskFactory(campaign=campaign, wanted=1, places_left=0)
    ClaimFactory(task=task)
    ResponseFactory(task=task)

    work = open_work(campaign)

    assert (work.responses, work.tasks) == (2, 1)


def test_a_recount_mends_a_wrong_number_and_says_so():
    campaign = CampaignFactory()
    task = TaskFactory(campaign=campaign, wanted=3)
    ClaimFactory(task=task)
    ResponseFactory(task=task)
    ResponseFactory(task=task, status=ResponseStatus.STORED)
    Task.objects.filter(pk=task.pk).update(places_left=3)

    wrong = [recount_places(campaign), recount_places(campaign)]

    task.refresh_from_db()
    assert wrong == [1, 0]
    assert task.places_left == 1


def test_a_claim_takes_the_same_few_queries_in_any_campaign(django_assert_num_queries):
    campaign = CampaignFactory(tasks=30)
    worker = WorkerFactory()
    claim(campaign, worker, count=20)

    # The worker's lock, the tasks, their places, the claims, and the two ends of the transaction
    # and of its savepoint.
    for count in (1, 5):
        with django_assert_num_queries(8):
            claim(campaign, worker, count=count)


picks = st.integers(0, 1000)


class Places(RuleBasedStateMachine):
    """Workers, the clock and reviewers do what they like, in any order, also twice."""

    def __init__(self):
        super().__init__()
        self.undo = transaction.atomic()
        self.undo.__enter__()
        self.campaign = CampaignFactory()
        self.tasks = [TaskFactory(campaign=self.campaign, wanted=2) for _ in range(3)]
        self.workers = WorkerFactory.create_batch(4)
        # How many answers a task got beyond its places, each by a lease that was over.
        self.late = dict.fromkeys((task.pk for task in self.tasks), 0)

    def teardown(self):
        transaction.set_rollback(True)
        self.undo.__exit__(None, None, None)

    def one_of(self, queryset, pick):
        """A row of many, or None where there is none."""
        rows = list(queryset.order_by("pk"))
        return rows[pick % len(rows)] if rows else None

    @rule(worker=picks, count=st.integers(1, 3))
    def claim(self, worker, count):
        worker = self.workers[worker % len(self.workers)]
        busy = set(worker.claims.held().values_list("task", flat=True))
        busy |= set(worker.responses.values_list("task", flat=True))
        open_to_them = {t.pk for t in Task.objects.filter(places_left__gt=0)} - busy

        try:
            claims = claim(self.campaign, worker, count=count)
        except NothingToDo:
            claims = []

        given = [made.task_id for made in claims]
        assert len(given) == len(set(given)) == min(count, len(open_to_them))
        assert set(given) <= open_to_them

    @rule(pick=picks)
    def store(self, pick):
        held = self.one_of(Claim.objects.held(), pick)
        if held is not None:
            store_answer(
                task=held.task, worker=held.worker, answer="A dog runs.", at=NOON, claim=held
            )

    @rule(pick=picks)
    def confirm(self, pick):
        response = self.one_of(Response.objects.all(), pick)
        if response is not None:
            was_stored = response.status == ResponseStatus.STORED
            is_late = was_stored and response.claim.status == ClaimStatus.RELEASED

            assert confirm_submitted(response=response, at=NOON) is was_stored
            self.late[response.task_id] += is_late

    @rule(pick=picks)
    def release(self, pick):
        claim = self.one_of(Claim.objects.all(), pick)
        if claim is not None:
            was_held = claim.status == ClaimStatus.HELD
            assert release_claims(claims=[claim]) == was_held

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
            fits = response.task.places_left > 0
            was_discarded = response.status == ResponseStatus.DISCARDED
            assert bool(restore(responses=[response])) is (was_discarded and fits)

    @invariant()
    def places_equal_the_recount(self):
        assert recount_places(self.campaign) == 0

    @invariant()
    def no_task_has_more_than_it_wants_but_for_late_answers(self):
        for task in Task.objects.all():
            assert task.places_left >= -self.late[task.pk]
            assert task.places_left <= task.wanted

    @invariant()
    def no_worker_has_a_task_twice(self):
        for worker in self.workers:
            answered = list(worker.responses.values_list("task", flat=True))
            assert len(answered) == len(set(answered))


def test_places_stay_right_whatever_workers_and_reviewers_do():
    quick = hypothesis_settings(max_examples=25, stateful_step_count=20, deadline=None)

    run_state_machine_as_test(Places, settings=quick)
