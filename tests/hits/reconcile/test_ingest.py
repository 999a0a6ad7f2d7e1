"""HITs that a listing shows as they are stored cost no statements of their own."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.models import Response
from annotate.queries.progress import open_work
from hits.models import Assignment, AssignmentStatus, Hit, HitStatus, TaskPage, WorkerAccount
from hits.mturk.client import Marketplace, marketplace_of
from hits.mturk.replies import ListedStatus
from hits.queries.costs import outstanding_slots, spend
from hits.reconcile import storing
from hits.reconcile.ingest import ingest
from hits.reconcile.reconciler import reconcile
from hits.reconcile.run import Run
from hits.services.claims import recount_places
from hits.services.submissions import of_erased
from hits.services.worker_data import erase_worker
from tests.factories import TaskPageFactory, make_campaign
from tests.hits.framed_work import work

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
    campaign = make_campaign(tasks=3)
    first, second = marketplace.fresh_workers(2)
    reconcile(campaign)
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
    campaign = make_campaign(tasks=1)
    reconcile(campaign)
    reconcile(campaign, steps=(ingest,))
    TaskPageFactory(hit=Hit.objects.get(), opened_at=timezone.now())

    reconcile(campaign, steps=(ingest,))

    assert not TaskPage.objects.exists()


@pytest.mark.parametrize(
    "wrong", [{"available": 0}, {"pending": 2}, {"settled": 0}, {"ingested": 2, "settled": 1}]
)
def test_a_hit_whose_stored_counts_are_wrong_is_read(client, marketplace, requester, wrong):
    campaign = make_campaign(tasks=1)
    reconcile(campaign)
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
    campaign = make_campaign(tasks=1)
    reconcile(campaign)
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
    campaign = make_campaign(tasks=2)
    first, second = marketplace.fresh_workers(2)
    reconcile(campaign)
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
    campaign = make_campaign(tasks=1)
    reconcile(campaign)
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
    campaign = make_campaign(tasks=1, review={"approve_after_hours": 1})
    reconcile(campaign)
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
    campaign = make_campaign(tasks=2)
    first, second = marketplace.fresh_workers(2)
    reconcile(campaign)
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
