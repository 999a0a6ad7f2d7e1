"""Reconciling without listing all HITs: only those with new answers on our site are read."""

from datetime import timedelta

import pytest
from django.utils import timezone

from hits.models import Assignment, AssignmentStatus, Hit, Listing, TaskPage
from hits.queries.costs import spend
from hits.reconcile.events import is_listing_due
from hits.reconcile.ingest import SUBMITTED_WITHIN, ingest
from hits.reconcile.reconciler import reconcile
from hits.services.claims import recount_places
from tests.factories import TaskPageFactory, make_campaign
from tests.hits.framed_work import SENTENCE, open_page, work, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(requester, settings):
    """A campaign with two HITs of three slots, which were just listed."""
    settings.MTURK_LIST_SECONDS = 600
    campaign = make_campaign(tasks=2)
    reconcile(campaign)
    return campaign


def look(campaign, **values):
    return reconcile(campaign, is_whole=False, **values)


def accept(worker, campaign):
    return worker.accept(campaign.hit_types.get().hit_type_id)


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
