"""HITs and assignments that the marketplace no longer has do not stop their campaign."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from annotate.models import CampaignStatus, Response, ResponseStatus, Submission, Task
from annotate.queries.progress import progress
from hits.models import Assignment, AssignmentStatus, Hit, HitStatus
from hits.mturk.client import Marketplace, marketplace_of
from hits.mturk.connection import MarketplaceError
from hits.queries.costs import spend
from hits.reconcile.reading import MADE_LATELY
from hits.reconcile.reconciler import reconcile
from hits.reconcile.retire import close
from hits.reconcile.settle import settle
from hits.reconcile.storing import ask_for
from hits.services.lifecycle import finish, pause
from tests.factories import NOON
from tests.hits.framed_work import published, work
from tests.hits.marketplace_calls import raise_gone

pytestmark = pytest.mark.django_db(transaction=True)


def delete_there(campaign, hit) -> None:
    """Delete HITs with the requester's keys, as another program could."""
    marketplace = marketplace_of(campaign)
    marketplace.expire_hit(hit.hit_id)
    for listed in marketplace.assignments(hit.hit_id):
        if listed.status == "Submitted":
            marketplace.approve(listed.assignment_id)
    marketplace.delete_hit(hit.hit_id)


def answer_gone(monkeypatch, hit) -> None:
    """Let the marketplace answer that the HIT does not exist, as Mechanical Turk may for a
    deleted one."""
    original = Marketplace._call

    def call(self, operation, **arguments):
        if arguments.get("HITId") == hit.hit_id:
            raise MarketplaceError(
                f"Hit {hit.hit_id} does not exist.",
                "AWS.MechanicalTurk.HITDoesNotExist",
                is_refusal=True,
            )
        return original(self, operation, **arguments)

    monkeypatch.setattr(Marketplace, "_call", call)


def test_the_slots_of_a_hit_that_is_gone_are_planned_again(client, marketplace, requester):
    campaign = published(tasks=1)
    hit = Hit.objects.get()
    delete_there(campaign, hit)

    done = reconcile(campaign)

    hit.refresh_from_db()
    assert (hit.status, hit.available, hit.pending) == (HitStatus.GONE, 0, 0)
    assert (done.error, done.notes) == ("", "1 HIT is gone at the marketplace.")
    assert done.hits_created == 1
    assert spend(campaign).open == 3 * (hit.reward + hit.fee)
    assert reconcile(campaign).notes == ""


def test_submissions_to_a_hit_are_read_after_it_was_deleted(client, marketplace, requester):
    campaign = published(tasks=1)
    work(client, marketplace.fresh_workers(1)[0], campaign)
    delete_there(campaign, Hit.objects.get())

    done = reconcile(campaign)

    assert (done.ingested, done.error) == (1, "")
    assert progress(campaign).submitted == 1
    assert Assignment.objects.get().status == AssignmentStatus.APPROVED
    assert Hit.objects.get(status=HitStatus.OPEN).slots == 2


@pytest.mark.parametrize("readable", [True, False])
@pytest.mark.parametrize("move", [pause, finish])
def test_a_campaign_with_a_hit_that_is_gone_can_be_paused_and_finished(
    client, marketplace, requester, monkeypatch, move, readable
):
    campaign = published(tasks=1)
    reconcile(campaign)
    hit = Hit.objects.get()
    delete_there(campaign, hit)
    if not readable:
        answer_gone(monkeypatch, hit)

    move(campaign=campaign, actor=None, at=NOON)
    done = reconcile(campaign)

    assert done.error == ""
    assert Hit.objects.get().status == HitStatus.GONE
    assert spend(campaign).open == 0


def test_a_hit_that_is_gone_when_it_is_closed_stops_no_other(client, marketplace, requester):
    """It is deleted after the listing, before the call that expires it."""
    campaign = published(tasks=2)
    first, second = Hit.objects.order_by("pk")
    delete_there(campaign, first)
    type(campaign).objects.update(status=CampaignStatus.PAUSED)

    done = reconcile(campaign, steps=(close,))

    assert done.error == ""
    statuses = [hit.status for hit in Hit.objects.order_by("pk")]
    assert statuses == [HitStatus.GONE, HitStatus.EXPIRED]


def test_a_hit_that_was_made_a_moment_ago_is_not_given_up(
    client, marketplace, requester, monkeypatch
):
    """A marketplace may list a new HIT with a delay; its slots stay reserved."""
    campaign = published(tasks=1)
    hit = Hit.objects.get()
    monkeypatch.setattr(Marketplace, "hit_pages", lambda self: iter([[]]))
    with monkeypatch.context() as patch:
        answer_gone(patch, hit)
        first = reconcile(campaign)
        later = reconcile(campaign, at=timezone.now() + MADE_LATELY + timedelta(seconds=1))

    assert (first.hits_created, later.hits_created) == (0, 1)
    hit.refresh_from_db()
    assert hit.status == HitStatus.GONE


def test_a_hit_that_a_clock_planned_while_it_was_ahead_is_given_up_like_any_other(
    client, marketplace, requester, monkeypatch
):
    campaign = published(tasks=1)
    hit = Hit.objects.get()
    Hit.objects.update(planned_at=timezone.now() + timedelta(days=365))
    monkeypatch.setattr(Marketplace, "hit_pages", lambda self: iter([[]]))
    with monkeypatch.context() as patch:
        answer_gone(patch, hit)
        reconcile(campaign)

    hit.refresh_from_db()
    assert hit.status == HitStatus.GONE


def test_a_hit_that_comes_back_is_taken_up_again(client, marketplace, requester):
    """As after restoring the marketplace's database."""
    campaign = published(tasks=1)
    Hit.objects.update(status=HitStatus.GONE, available=0)
    type(campaign).objects.update(status=CampaignStatus.PAUSED)

    done = reconcile(campaign)
    reconcile(campaign)

    assert done.notes == "1 HIT that this database did not know was adopted."
    hit = Hit.objects.get()
    assert (hit.status, hit.available) == (HitStatus.RETIRED, 0)
    assert list(marketplace_of(campaign).hits()) == []


def test_an_assignment_that_is_gone_is_lost_and_stops_no_payment(client, marketplace, requester):
    campaign = published(tasks=1, review={"share": 0, "approve_after_hours": 24})
    for number, worker in enumerate(marketplace.fresh_workers(2)):
        work(client, worker, campaign, number)
    reconcile(campaign)
    made_up = Assignment.objects.earliest("pk")
    made_up.submission, made_up.assignment_id = Submission.objects.create(), "NEVERTHERE"
    made_up.save(force_insert=True)
    campaign.config_json["review"]["approve_after_hours"] = 0
    campaign.save()

    done = reconcile(campaign)

    assert (done.approved, done.error) == (2, "")
    made_up.refresh_from_db()
    assert made_up.status == AssignmentStatus.LOST
    hit = Hit.objects.get()
    assert (hit.ingested, hit.settled) == (2, 2)
    assert spend(campaign).owed == 0


@pytest.mark.parametrize("hit_status", [HitStatus.OPEN, HitStatus.GONE])
def test_an_unpaid_lost_assignment_does_not_count_until_it_is_found(
    client, marketplace, requester, monkeypatch, hit_status
):
    """An assignment that is lost with its HIT may have been paid."""
    campaign = published(tasks=1, review={"share": 0, "approve_after_hours": 24})
    work(client, marketplace.fresh_workers(1)[0], campaign)
    reconcile(campaign)
    missing = Task.objects.get().answers_missing
    with monkeypatch.context() as patch:
        patch.setattr(Marketplace, "assignment", raise_gone)
        run = SimpleNamespace(marketplace=marketplace_of(campaign), at=timezone.now())
        Hit.objects.update(status=hit_status, available=0)
        assert ask_for(run, Assignment.objects.get())
    lost = Response.objects.get()
    needed = Task.objects.get().answers_missing - missing
    Hit.objects.update(status=HitStatus.OPEN)

    reconcile(campaign)

    counted = hit_status == HitStatus.GONE
    assert (lost.status == ResponseStatus.SUBMITTED, needed) == (counted, int(not counted))
    assert Assignment.objects.get().status == AssignmentStatus.SUBMITTED
    assert Response.objects.get().status == ResponseStatus.SUBMITTED
    assert Task.objects.get().answers_missing == missing


@pytest.mark.parametrize("is_hit_gone", [True, False])
def test_an_assignment_lost_with_its_hit_counts_even_if_no_listing_has_shown_the_loss(
    client, marketplace, requester, monkeypatch, is_hit_gone
):
    campaign = published(tasks=1, review={"share": 0, "approve_after_hours": 24})
    work(client, marketplace.fresh_workers(1)[0], campaign)
    reconcile(campaign)
    campaign.config_json["review"]["approve_after_hours"] = 0
    campaign.save()
    for call in ("approve", "assignment"):
        monkeypatch.setattr(Marketplace, call, raise_gone)
    if is_hit_gone:
        answer_gone(monkeypatch, Hit.objects.get())

    done = reconcile(campaign, steps=(settle,))

    assert (done.error, Assignment.objects.get().status) == ("", AssignmentStatus.LOST)
    assert (Hit.objects.get().status == HitStatus.GONE) == is_hit_gone
    assert (Response.objects.get().status == ResponseStatus.SUBMITTED) == is_hit_gone


def test_surplus_assignments_are_lost_once_the_marketplace_is_asked(client, marketplace, requester):
    """Rows from a faulty listing: more than were submitted."""
    campaign = published(tasks=1, review={"share": 0, "approve_after_hours": 24})
    work(client, marketplace.fresh_workers(1)[0], campaign)
    reconcile(campaign)
    for number in range(4):
        copy = Assignment.objects.earliest("pk")
        copy.submission, copy.assignment_id = Submission.objects.create(), f"SURPLUS{number}"
        copy.save(force_insert=True)
    Hit.objects.update(ingested=3)

    done = reconcile(campaign)

    assert done.error == ""
    assert Assignment.objects.filter(status=AssignmentStatus.LOST).count() == 4
    hit = Hit.objects.get()
    assert (hit.available, hit.ingested) == (2, 1)
