"""Many submissions and payments of one campaign are divided among the Celery workers."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import celery
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Response
from background.models import Failure
from hits.models import Assignment, AssignmentStatus, Hit, TaskPage
from hits.mturk.client import Marketplace, marketplace_of
from hits.mturk.connection import MarketplaceError
from hits.reconcile.ingest import ingest, read_left
from hits.reconcile.reconciler import reconcile, sync_share
from hits.reconcile.run import SHARES, ShareWork, held_shares
from hits.reconcile.settle import settle
from hits.services.claims import recount_places
from hits.tasks import pay_share, read_share, sync_campaign
from tests.factories import make_campaign
from tests.hits.framed_work import published, work
from tests.servers import PATIENCE, free_port

pytestmark = pytest.mark.django_db(transaction=True)

HITS, SLOTS = 2, 3
ANSWERS = HITS * SLOTS


@pytest.fixture
def answered(client, marketplace, requester):
    """A campaign whose two HITs have all their answers at the marketplace, and none here."""
    campaign = published(tasks=HITS)
    for worker in marketplace.fresh_workers(SLOTS):
        for number in range(HITS):
            work(client, worker, campaign, number)
    return campaign


@pytest.fixture
def one_at_once(monkeypatch):
    """A sync reads one HIT and makes one payment; so does a task."""
    for module in ("reading", "reconciler"):
        monkeypatch.setattr(f"hits.reconcile.{module}.AT_ONCE", 1)
    monkeypatch.setattr("hits.tasks.AT_ONCE", 1)


@pytest.fixture
def queue(settings, monkeypatch) -> list[tuple[Callable, tuple]]:
    """The tasks that are handed on to Celery's workers, which the test calls itself."""
    settings.CELERY_TASK_ALWAYS_EAGER = False
    tasks: list[tuple[Callable, tuple]] = []
    monkeypatch.setattr(
        "hits.tasks.pass_on", lambda task, *arguments, **_: tasks.append((task, arguments))
    )
    return tasks


def statuses() -> list[str]:
    return list(Assignment.objects.values_list("status", flat=True))


def refuse(self, hit_id, **_: object):
    raise MarketplaceError("The call was refused.", code="Refused")


def work_off(queue: list[tuple[Callable, tuple]]) -> int:
    """Call the tasks until there are none; return how many there were."""
    done = 0
    while queue:
        task, arguments = queue.pop(0)
        task(*arguments)
        done += 1
    return done


def test_tasks_read_and_pay_what_a_sync_leaves(answered, one_at_once, queue):
    sync_campaign(answered.pk)
    read_at_once = Response.objects.count()
    left = Hit.objects.to_read().get()

    done = work_off(queue)
    sync_campaign(answered.pk)
    done += work_off(queue)

    assert (read_at_once, left.to_read, left.ingested) == (SLOTS, SLOTS, 0)
    assert done < 40
    assert not Hit.objects.to_read().exists()
    assert statuses() == [AssignmentStatus.APPROVED] * ANSWERS
    assert Response.objects.counting().count() == ANSWERS
    assert recount_places(answered) == 0


def test_slots_of_a_hit_that_is_left_are_not_planned_again(answered, one_at_once):
    reconcile(answered, at_most=1)

    left = Hit.objects.to_read().get()
    assert (left.available, left.pending) == (0, SLOTS)
    assert Hit.objects.count() == HITS


def test_free_slots_of_an_expired_hit_that_is_left_are_not_in_progress(
    client, marketplace, requester, one_at_once
):
    campaign = published(tasks=HITS)
    worker = marketplace.fresh_workers(1)[0]
    for number in range(HITS):
        work(client, worker, campaign, number)
    for hit in campaign.hits.all():
        marketplace_of(campaign).expire_hit(hit.hit_id)
    reconcile(campaign, at_most=1, steps=(ingest,))
    left = Hit.objects.to_read().get()

    reconcile(campaign, is_whole=False, steps=(ingest,))

    assert (left.pending, left.ingested) == (1, 0)
    assert set(Hit.objects.values_list("available", "pending", "ingested")) == {(0, 0, 1)}


def test_a_hit_that_is_left_and_cannot_be_read_is_read_by_the_next_sync(
    answered, one_at_once, monkeypatch
):
    reconcile(answered, at_most=1)

    with monkeypatch.context() as patch:
        patch.setattr(Marketplace, "assignments", refuse)
        reconcile(answered, is_whole=False)
    left = Hit.objects.to_read().get()
    reconcile(answered, is_whole=False)

    assert (left.pending, left.ingested) == (SLOTS, 0)
    assert Assignment.objects.count() == ANSWERS


@pytest.mark.parametrize("queue_url", ["", "https://queue.example/1"])
def test_a_page_stays_until_the_assignments_of_its_hit_can_be_read(
    answered, monkeypatch, settings, queue_url
):
    with monkeypatch.context() as patch:
        patch.setattr(Marketplace, "assignments", refuse)
        reconcile(answered, steps=(ingest,))
        settings.MTURK_NOTIFICATION_QUEUE_URL = queue_url
        later = TaskPage.objects.latest("expires_at").expires_at
        reconcile(answered, steps=(ingest,), is_whole=False, at=later)
    pages = TaskPage.objects.count()

    reconcile(answered, steps=(ingest,), at=later)

    assert pages == ANSWERS
    assert Response.objects.filter(seconds__isnull=False).count() == ANSWERS


def test_without_workers_a_sync_reads_and_pays_all(answered, one_at_once):
    done = reconcile(answered)

    assert (done.ingested, done.approved) == (ANSWERS, ANSWERS)
    assert not Hit.objects.to_read().exists()


def test_the_next_sync_continues_what_a_killed_worker_has_left(answered, one_at_once):
    reconcile(answered, at_most=1)

    reconcile(answered, is_whole=False)

    assert statuses() == [AssignmentStatus.APPROVED] * ANSWERS


def test_hits_that_a_share_has_read_cost_no_further_call(answered, one_at_once):
    """The count of the listing says when all is read, so no empty page is asked for."""
    reconcile(answered, at_most=1)
    share = Hit.objects.to_read().get().pk % len(SHARES)

    done = sync_share(answered, ShareWork.READ, share)

    assert (done.ingested, done.api_calls) == (SLOTS, 1)


def test_the_counts_of_hits_in_shares_are_stored_together(answered, monkeypatch):
    monkeypatch.setattr("hits.reconcile.reading.AT_ONCE", 0)
    reconcile(answered, at_most=0)

    with CaptureQueriesContext(connection) as queries:
        reconcile(answered, steps=(read_left,))

    updates = [one for one in queries if one["sql"].startswith('UPDATE "hits_hit"')]
    assert set(Hit.objects.values_list("ingested", "pending", "to_read")) == {(SLOTS, 0, None)}
    # What is free or pending, and the numbers of assignments, each for both HITs.
    assert len(updates) == 2, updates


def test_a_share_in_other_hands_is_left_alone(answered, one_at_once):
    reconcile(answered, at_most=1)
    share = Hit.objects.to_read().get().pk % len(SHARES)

    def try_it() -> int:
        try:
            return sync_share(answered, ShareWork.READ, share).ingested
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with held_shares(answered, ShareWork.READ, [share]) as held:
            ingested = pool.submit(try_it).result(PATIENCE)
        later = pool.submit(try_it).result(PATIENCE)

    assert (held, ingested, later) == ([share], 0, SLOTS)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite writes one after the other")
def test_all_shares_at_the_same_time_pay_each_assignment_once(answered):
    reconcile(answered, steps=())
    reconcile(answered, at_most=0)
    paid_before = marketplace_of(answered).balance()

    def pay(share: int) -> int:
        try:
            return sync_share(answered, ShareWork.PAY, share).approved
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        approved = list(pool.map(pay, [*SHARES, *SHARES]))

    assert sum(approved) == ANSWERS
    assert statuses() == [AssignmentStatus.APPROVED] * ANSWERS
    # The reward was set aside when the HITs were created.
    assert marketplace_of(answered).balance() == paid_before


def test_payments_of_a_share_in_other_hands_are_left_alone(answered):
    def pay() -> bool:
        try:
            return bool(reconcile(answered, steps=(settle,)).approved)
        finally:
            connection.close()

    reconcile(answered, at_most=0)
    shares = {hit.pk % len(SHARES) for hit in Hit.objects.all()}
    with ThreadPoolExecutor(1) as pool, held_shares(answered, ShareWork.PAY, sorted(shares)):
        paid = pool.submit(pay).result(PATIENCE)

    assert not paid


def test_a_payment_that_fails_is_not_queued_again_and_again(answered, one_at_once, queue):
    reconcile(answered, at_most=0)
    for assignment in Assignment.objects.all():
        answered.sync_problems.create(
            subject=f"assignment {assignment.pk}",
            message="It failed.",
            first_at=assignment.submitted_at,
            last_at=assignment.submitted_at,
        )

    pay_share(answered.pk, Hit.objects.first().pk % len(SHARES))

    assert queue == []


@pytest.mark.parametrize("task", [read_share, pay_share])
def test_a_task_is_tried_again_later_if_the_marketplace_does_not_answer(
    task, settings, monkeypatch
):
    campaign = make_campaign(tasks=1)
    settings.CELERY_TASK_ALWAYS_EAGER = False

    def unreachable(*_: object, **__: object) -> None:
        raise MarketplaceError("The marketplace did not answer.", code="NoAnswer")

    monkeypatch.setattr("hits.tasks.sync_share", unreachable)
    arguments = {"args": (campaign.pk, 0), "kwargs": {}}
    task.push_request(id="1", retries=2, called_directly=False, delivery_info={}, **arguments)

    with pytest.raises(celery.exceptions.Retry) as raised:
        task.run(campaign.pk, 0)

    assert 0 <= raised.value.when <= 2**2


def test_a_task_that_failed_for_good_is_on_the_page_of_failures(settings, requester):
    settings.MTURK_MAX_ATTEMPTS = 1
    campaign = make_campaign(tasks=1)
    settings.MARKETPLACE_URL = f"http://127.0.0.1:{free_port()}"
    error = MarketplaceError("The marketplace did not answer.")

    pay_share.on_failure(error, "1", (campaign.pk, 0), {})

    failure = Failure.objects.get()
    assert failure.arguments["task"] == "hits.tasks.pay_share"
    pay_share.on_success(None, "1", (campaign.pk, 0), {})
    failure.refresh_from_db()
    assert failure.ended_at is not None
