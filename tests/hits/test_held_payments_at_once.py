"""Two people, or a person and the reconciler, decide about the same held payment."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotate.models import Worker
from hits.models import Assignment
from hits.mturk.client import marketplace_of
from hits.reconcile.reconciler import reconcile
from hits.services.payments import accept_held, reject_held
from qualcontrol.models import HeldOutcome, HeldPayment
from qualcontrol.services.errors import AlreadyDecided, CannotReject
from tests.factories import UserFactory, make_campaign
from tests.hits.framed_work import post, work
from tests.hits.marketplace_calls import before_call
from tests.races import just_before_lock, somebody_waits_for_a_lock
from tests.servers import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(client, marketplace, requester):
    """A campaign with a caption that is due for approval, and with a held payment."""
    campaign = make_campaign(tasks=4, review={"share": 0, "first": 0, "approve_after_hours": 24})
    reconcile(campaign)
    writer, stranger = marketplace.fresh_workers(2)
    work(client, writer, campaign)
    post(stranger, campaign, junk="hello")
    assert reconcile(campaign).ingested == 2
    review = {**campaign.config_json["review"], "approve_after_hours": 0}
    campaign.config_json = {**campaign.config_json, "review": review}
    campaign.save()
    del campaign.__dict__["config"]
    return campaign


def decision(service, reason="No caption."):
    held = HeldPayment.objects.get()
    return partial(service, held=held, reason=reason, actor=UserFactory(), at=timezone.now())


def status_there(campaign):
    """Status of the held assignment at the marketplace."""
    assignment = Assignment.objects.get(submission__held_payment__isnull=False)
    return marketplace_of(campaign).assignment(assignment.assignment_id).status


def test_work_that_is_rejected_while_others_are_approved_is_never_paid(campaign, monkeypatch):
    reject = decision(reject_held)
    before_call(monkeypatch, "approve_assignment", lambda number: reject())

    first = reconcile(campaign)
    second = reconcile(campaign)

    assert (first.approved, second.rejected) == (1, 1)
    assert status_there(campaign) == "Rejected"


@pytest.mark.parametrize(
    ("meanwhile", "late", "status"),
    [(reject_held, accept_held, "Rejected"), (accept_held, reject_held, "Approved")],
)
def test_of_two_decisions_the_first_one_stands(campaign, meanwhile, late, status):
    first, second = decision(meanwhile), decision(late)

    with just_before_lock(first), pytest.raises(AlreadyDecided):
        second()
    reconcile(campaign)

    assert status_there(campaign) == status
    assert campaign.decisions.count() == 1


def test_accepted_work_cannot_be_rejected_while_it_is_being_paid(campaign, monkeypatch):
    decision(accept_held)()
    refused = []

    def reject(_number):
        try:
            decision(reject_held)()
        except CannotReject as error:
            refused.append(str(error))

    before_call(monkeypatch, "approve_assignment", reject)
    reconcile(campaign)

    assert any("is being paid" in message for message in refused)
    assert status_there(campaign) == "Approved"
    assert HeldPayment.objects.get().outcome == HeldOutcome.PAY


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite locks no rows")
def test_a_payment_waits_for_a_rejection_that_is_being_written(campaign):
    reject = decision(reject_held)
    account = Assignment.objects.get(submission__held_payment__isnull=False).account

    def pay():
        try:
            return reconcile(campaign)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Worker.objects.select_for_update(no_key=True).get(pk=account.worker_id)
            reject()
            paid = pool.submit(pay)
            end = time.monotonic() + PATIENCE
            while not (paid.done() or somebody_waits_for_a_lock()):
                assert time.monotonic() < end
                time.sleep(0.05)
        assert paid.result(PATIENCE).approved == 1
    reconcile(campaign)

    assert status_there(campaign) == "Rejected"
