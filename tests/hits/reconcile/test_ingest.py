"""HITs that a listing shows as they are stored cost no statements of their own."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.models import Response, Task, Worker
from annotate.queries.progress import open_work
from hits.models import (
    Assignment,
    AssignmentStatus,
    Hit,
    HitStatus,
    Listing,
    TaskPage,
    WorkerAccount,
)
from hits.mturk.client import Marketplace, marketplace_of
from hits.mturk.replies import ListedStatus
from hits.queries.costs import outstanding_slots, spend
from hits.reconcile import storing
from hits.reconcile.events import is_listing_due
from hits.reconcile.ingest import SUBMITTED_WITHIN, ingest
from hits.reconcile.reading import adopt
from hits.reconcile.reconciler import reconcile
from hits.reconcile.run import Run
from hits.services.claims import recount_places
from hits.services.submissions import of_erased
from hits.services.worker_data import erase_worker
from tests.factories import NOON, HitFactory, TaskPageFactory, make_campaign
from tests.hits.framed_work import SENTENCE, accept, open_page, published, work, write
from tests.races import somebody_waits_for_a_lock
from tests.servers import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


def statements_of_a_listing(campaign) -> int:
    with CaptureQueriesContext(connection) as queries:
        reconcile(campaign, steps=(ingest,))
    return len(queries)


def test_a_listing_takes_as_many_statements_for_many_hits_as_for_few(requester):
    few, many = make_campaign(tasks=2), make_campaign(tasks=12)
    for campaign in (few, many):
        reconcile(campaign)
        reconcile(campaign, steps=(ingest,))
    listed_before = set(many.hits.values_list("listed_at", flat=True))

    assert statements_of_a_listing(few) == statements_of_a_listing(many)

    assert (few.hits.count(), many.hits.count()) == (2, 12)
    assert not listed_before & set(many.hits.values_list("listed_at", flat=True))


def test_an_answer_that_comes_after_the_listing_takes_no_slot_from_anybody(
    client, marketplace, requester, monkeypatch
):
    """Otherwise the sync counts its slot as open, and expires another HIT as one too many."""
    campaign = published(tasks=3)
    first, second = marketplace.fresh_workers(2)
    for number in range(3):
        work(client, first, campaign, number)
    assignments, late = Marketplace.assignments, [second]

    def one_more_meanwhile(self, hit_id, **options):
        if late:
            work(client, late.pop(), campaign)
        return assignments(self, hit_id, **options)

    monkeypatch.setattr(Marketplace, "assignments", one_more_meanwhile)
    reconcile(campaign)

    assert not late
    assert outstanding_slots(campaign) == open_work(campaign).missing == 5
    assert set(campaign.hits.values_list("status", flat=True)) == {HitStatus.OPEN}


def test_pages_of_an_unchanged_hit_are_closed_if_nobody_is_at_work(requester):
    campaign = published(tasks=1)
    reconcile(campaign, steps=(ingest,))
    TaskPageFactory(hit=Hit.objects.get(), opened_at=timezone.now())

    reconcile(campaign, steps=(ingest,))

    assert not TaskPage.objects.exists()


@pytest.mark.parametrize(
    "wrong", [{"available": 0}, {"pending": 2}, {"settled": 0}, {"ingested": 2, "settled": 1}]
)
def test_a_hit_whose_stored_counts_are_wrong_is_read(client, marketplace, requester, wrong):
    campaign = published(tasks=1)
    work(client, marketplace.fresh_workers(1)[0], campaign)
    reconcile(campaign)
    reconcile(campaign, steps=(ingest,))
    columns = ("available", "pending", "ingested", "settled", "status")
    right = Hit.objects.values(*columns).get()
    Hit.objects.update(**wrong)

    reconcile(campaign, steps=(ingest,))

    assert Hit.objects.values(*columns).get() == right
    assert recount_places(campaign) == 0


@pytest.mark.parametrize("status", [ListedStatus.REVIEWABLE, ListedStatus.UNASSIGNABLE])
def test_a_hit_of_which_fewer_are_listed_than_counted_is_read_each_hour_in_the_end(
    requester, monkeypatch, status
):
    campaign = published(tasks=1)
    pages, assignments = Marketplace.hit_pages, Marketplace.assignments
    counted = {"available": 0, "status": status}
    reads = []

    def too_many(self):
        return ([hit.model_copy(update=counted) for hit in page] for page in pages(self))

    def noted(self, hit_id, **most):
        reads.append(minutes)
        return assignments(self, hit_id, **most)

    monkeypatch.setattr(Marketplace, "hit_pages", too_many)
    monkeypatch.setattr(Marketplace, "assignments", noted)
    start = timezone.now()
    for minutes in (0, 5, 9, 30, 59, 61, 90, 119, 121):
        at = start + timedelta(minutes=minutes)
        reconcile(campaign, at=at, steps=(ingest,))
        Hit.objects.update(listed_at=at)

    assert reads == [0, 5, 9, 61, 121]


def test_a_hit_that_is_read_again_brings_nobody_back_who_was_erased(client, marketplace, requester):
    """The marketplace still lists their work, with the ids."""
    campaign = published(tasks=2)
    first, second = marketplace.fresh_workers(2)
    work(client, first, campaign)
    reconcile(campaign)
    account = WorkerAccount.objects.get()
    erase_worker(worker=account.worker, by=None, at=timezone.now())
    before = spend(campaign).paid
    work(client, second, campaign, 1)

    done = reconcile(campaign)

    assert done.error == ""
    ids = list(WorkerAccount.objects.order_by("pk").values_list("marketplace_id", flat=True))
    assert (len(ids), ids[0][:7], account.marketplace_id in ids) == (2, "erased:", False)
    assert Response.objects.count() == Assignment.objects.count() == 2
    assert spend(campaign).paid == 2 * before
    assert sorted(campaign.hits.values_list("ingested", flat=True))[-1] == 2


@pytest.mark.parametrize("status", [AssignmentStatus.REJECTED, AssignmentStatus.LOST])
def test_work_of_who_was_erased_gets_the_marketplaces_decision(
    client, marketplace, requester, status
):
    """A rejection can be overridden there, and what seemed to be lost can be found."""
    campaign = published(tasks=1)
    work(client, marketplace.fresh_workers(1)[0], campaign)
    reconcile(campaign)
    Assignment.objects.update(status=status)
    erase_worker(worker=WorkerAccount.objects.get().worker, by=None, at=timezone.now())
    Hit.objects.update(ingested=0, settled=0)

    done = reconcile(campaign)

    assert done.error == ""
    assert Assignment.objects.get().status == AssignmentStatus.APPROVED
    assert (WorkerAccount.objects.count(), Hit.objects.get().settled) == (1, 1)
    assert reconcile(campaign).api_calls == 1


def test_an_assignment_that_is_requested_again_is_not_lost_because_its_worker_was_erased(
    client, marketplace, requester
):
    campaign = published(tasks=1, review={"approve_after_hours": 1})
    work(client, marketplace.fresh_workers(1)[0], campaign)
    done = reconcile(campaign)
    WorkerAccount.objects.update(marketplace_id="erased:1")
    assignment = Assignment.objects.select_related("account").get()
    there = marketplace_of(campaign)
    there.approve(assignment.assignment_id)

    storing.ask_for(Run(campaign, there, timezone.now(), done), assignment)

    assert Assignment.objects.get().status == AssignmentStatus.APPROVED


def test_nobody_comes_back_who_is_erased_while_their_work_is_read(
    client, marketplace, requester, monkeypatch
):
    campaign = published(tasks=2)
    first, second = marketplace.fresh_workers(2)
    work(client, first, campaign)
    reconcile(campaign)
    account = WorkerAccount.objects.get()
    work(client, second, campaign, 1)

    def erased_after(reported):
        found = of_erased(reported)
        erase_worker(worker=account.worker, by=None, at=timezone.now())
        return found

    monkeypatch.setattr(storing, "of_erased", erased_after)
    done = reconcile(campaign)

    assert done.error == ""
    ids = list(WorkerAccount.objects.order_by("pk").values_list("marketplace_id", flat=True))
    assert (len(ids), ids[0][:7], account.marketplace_id in ids) == (2, "erased:", False)
    assert Response.objects.count() == Assignment.objects.count() == 2


@pytest.fixture
def campaign(requester, settings):
    """A campaign with two HITs of three slots, which were just listed."""
    settings.MTURK_LIST_SECONDS = 600
    return published(tasks=2)


def look(campaign, **values):
    return reconcile(campaign, is_whole=False, **values)


def test_all_hits_are_listed_at_an_interval(campaign, settings):
    now = timezone.now()

    assert not is_listing_due(campaign, at=now)
    assert is_listing_due(campaign, at=now + timedelta(seconds=601))
    settings.MTURK_LIST_SECONDS = 0
    assert is_listing_due(campaign, at=now)


def test_a_listing_by_a_clock_that_was_ahead_does_not_count(campaign):
    now = timezone.now()
    campaign.syncs.update(started_at=now + timedelta(hours=5))

    assert is_listing_due(campaign, at=now)
    assert reconcile(campaign, at=now).listing == Listing.ACCOUNT
    assert not is_listing_due(campaign, at=now)
    assert reconcile(campaign, at=now).listing == Listing.CAMPAIGN


def test_where_nobody_stored_an_answer_the_marketplace_is_not_asked(client, marketplace, campaign):
    open_page(client, accept(marketplace.fresh_workers(1)[0], campaign))

    assert look(campaign).api_calls == 0


def test_only_the_hit_with_an_answer_is_read(client, marketplace, campaign):
    work(client, marketplace.fresh_workers(1)[0], campaign)

    done = look(campaign)

    assert (done.ingested, done.approved) == (1, 1)
    assert done.api_calls == 1 + 1  # the one HIT's assignments, its approval
    assert recount_places(campaign) == 0


def test_a_listing_finds_the_counts_of_such_a_hit_in_order(client, marketplace, campaign):
    workers = marketplace.fresh_workers(2)
    work(client, workers[0], campaign)
    committed = spend(campaign).committed
    look(campaign)
    estimated = list(Hit.objects.order_by("pk").values_list("available", "pending", "ingested"))

    listed = reconcile(campaign)

    assert sum(sum(counts) for counts in estimated) == 6
    assert spend(campaign).committed == committed
    assert listed.api_calls == 1  # nothing is read again
    assert sum(Hit.objects.values_list("available", flat=True)) == 5


def test_a_hit_that_is_full_is_read_once(client, marketplace, campaign, settings):
    settings.MTURK_READ_WAIT_SECONDS = 3600
    workers, calls = marketplace.fresh_workers(3), []
    for worker in workers:
        for number in range(2):
            work(client, worker, campaign, number)
        done = look(campaign)
        calls.append(done.api_calls - done.approved)

    assert sum(calls) == 2
    assert Assignment.objects.filter(status=AssignmentStatus.APPROVED).count() == 6


def test_an_answer_that_is_not_submitted_is_asked_for_only_for_a_while(
    client, marketplace, campaign
):
    write(client, accept(marketplace.fresh_workers(1)[0], campaign), SENTENCE)
    now = timezone.now()

    soon = look(campaign, at=now)
    later = look(campaign, at=now + SUBMITTED_WITHIN / 2)
    too_late = look(campaign, at=now + 2 * SUBMITTED_WITHIN)
    at_last = look(campaign, at=now + 3 * SUBMITTED_WITHIN)

    assert all(done.api_calls for done in (soon, later, too_late))
    assert at_last.api_calls == 0


def test_a_submission_that_was_not_there_yet_is_read_the_next_time(client, marketplace, campaign):
    worker = marketplace.fresh_workers(1)[0]
    frame = accept(worker, campaign)
    write(client, frame, SENTENCE)
    before = look(campaign).ingested
    name = next(iter(TaskPage.objects.get().fields))
    worker.submit(frame.assignment_id, **{name: SENTENCE}).raise_for_status()

    after = look(campaign).ingested

    assert (before, after) == (0, 1)


def test_made_up_answers_in_many_hits_cost_a_listing_and_not_a_call_each(campaign, monkeypatch):
    monkeypatch.setattr("hits.reconcile.ingest.MOST_READ_ALONE", 1)
    now = timezone.now()
    for hit in campaign.hits.all():
        TaskPageFactory(hit=hit, opened_at=now, answered_at=now)

    assert look(campaign).api_calls == 1


@pytest.mark.parametrize("queue_url", ["", "https://queue.example/1"])
def test_no_page_ends_before_a_listing(client, marketplace, campaign, settings, queue_url):
    """With a queue, the event of its submission may be late."""
    open_page(client, accept(marketplace.fresh_workers(1)[0], campaign))
    later = TaskPage.objects.get().expires_at
    settings.MTURK_NOTIFICATION_QUEUE_URL = queue_url

    look(campaign, at=later, steps=(ingest,))
    assert TaskPage.objects.exists()
    reconcile(campaign, at=later, steps=(ingest,))

    assert not TaskPage.objects.exists()
    assert recount_places(campaign) == 0


def test_a_hit_that_another_reconciler_made_meanwhile_is_known_as_it_is():
    HitFactory(status=HitStatus.PLANNED, hit_id=None, available=0)
    seen_before = Hit.objects.get()
    adopt(Hit.objects.get(), "HIT1", NOON)

    adopt(seen_before, "HIT1", NOON)

    assert (seen_before.status, seen_before.hit_id) == (HitStatus.OPEN, "HIT1")
    # What is noted of it next is written over its row, and must fit.
    seen_before.save()
    assert Hit.objects.get().status == HitStatus.OPEN


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite locks no rows")
def test_ingest_waits_for_the_worker_before_it_holds_a_task(client, marketplace, requester):
    """An exclusion locks worker, then tasks; the opposite order in ingest would cause a
    deadlock."""
    campaign = published(tasks=2)
    worker = marketplace.fresh_workers(1)[0]
    work(client, worker, campaign)
    reconcile(campaign)
    work(client, worker, campaign)

    def sync() -> None:
        try:
            reconcile(campaign)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Worker.objects.select_for_update().get()
            ingested = pool.submit(sync)
            end = time.monotonic() + PATIENCE
            while not somebody_waits_for_a_lock():
                assert not ingested.done()
                assert time.monotonic() < end
                time.sleep(0.05)
            list(Task.objects.select_for_update(nowait=True))
        ingested.result(PATIENCE)

    assert Response.objects.counting().count() == 2
    assert recount_places(campaign) == 0
