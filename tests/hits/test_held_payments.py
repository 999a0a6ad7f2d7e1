"""Holding payments for answers that were posted to the marketplace directly."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from types import SimpleNamespace

import pytest
from django.db import connection, transaction
from django.urls import reverse
from django.utils import timezone

from annotate.models import Response, Worker
from hits.models import Assignment, AssignmentStatus
from hits.mturk.client import Marketplace, marketplace_of
from hits.reconcile.reconciler import reconcile
from hits.reconcile.storing import ask_for
from hits.services.lifecycle import CannotMove, finish
from hits.services.payments import accept_held, reject_held
from qualcontrol.models import Act, Decision, HeldOutcome, HeldPayment, Pause, SpotCheck
from qualcontrol.review.judging import judge
from qualcontrol.services.errors import AlreadyDecided, CannotReject
from qualcontrol.services.exclusions import resume_worker
from tests.factories import NOON, UserFactory
from tests.hits.framed_work import fields_of, open_page, post, published, work
from tests.hits.marketplace_calls import before_call, raise_gone
from tests.races import just_before_lock, somebody_waits_for_a_lock
from tests.servers import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


LONG = "word " * 40_000


@pytest.fixture
def campaign(marketplace, requester):
    """A published campaign of four images."""
    return published(tasks=4)


def send_caption(client, worker, campaign, text):
    """Submit a caption directly, without the checks of the task page."""
    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    fields = fields_of(open_page(client, frame), "data-task")
    name = next(field for field in fields if field.startswith("caption-"))
    answer = worker.submit(frame.assignment_id, **{name: text})
    assert answer.ok, answer.text


def status_there(campaign):
    return [
        marketplace_of(campaign).assignment(each.assignment_id).status
        for each in Assignment.objects.order_by("pk")
    ]


def held():
    return HeldPayment.objects.get()


def decide(decision, reason="An answer with one field, “junk”."):
    decision(held=held(), reason=reason, actor=UserFactory(), at=timezone.now())


def test_junk_is_never_paid_without_a_person(marketplace, campaign):
    post(marketplace.fresh_workers(1)[0], campaign, junk="hello")

    runs = [reconcile(campaign) for _ in range(3)]

    assert runs[-1].notes == "1 held payment needs a decision."
    assert [run.approved for run in runs] == [0, 0, 0]
    assert status_there(campaign) == ["Submitted"]
    assert held().why == "The answer has no field of a task of this campaign."


def test_junk_that_a_person_accepts_is_paid(marketplace, campaign):
    post(marketplace.fresh_workers(1)[0], campaign, junk="hello")
    reconcile(campaign)

    decide(accept_held, reason="")

    assert reconcile(campaign).approved == 1
    assert status_there(campaign) == ["Approved"]
    assert held().decision == Decision.objects.get(act=Act.PAY)


def test_junk_that_a_person_rejects_is_rejected_with_the_reason(marketplace, campaign):
    post(marketplace.fresh_workers(1)[0], campaign, junk="hello")
    reconcile(campaign)

    decide(reject_held)

    assert reconcile(campaign).rejected == 1
    there = marketplace_of(campaign).assignment(Assignment.objects.get().assignment_id)
    assert (there.status, there.feedback) == ("Rejected", "An answer with one field, “junk”.")
    assert held().decision.actor is not None


def test_a_worker_who_sends_junk_twice_is_paused_until_a_person_ends_the_pause(
    marketplace, campaign
):
    worker = marketplace.fresh_workers(1)[0]
    post(worker, campaign, junk="1")
    reconcile(campaign)
    assert not Pause.objects.exists()

    post(worker, campaign, junk="2")
    reconcile(campaign)
    pause = Pause.objects.in_force().get()
    assert (pause.reason, pause.is_by_policy) == ("2 submitted answers fit no task", True)

    about = {"campaign": campaign, "worker": pause.worker, "at": timezone.now()}
    resume_worker(reason="A fault of ours.", actor=UserFactory(), **about)
    reconcile(campaign)
    assert not Pause.objects.in_force().exists()

    post(worker, campaign, junk="3")
    reconcile(campaign)
    assert Pause.objects.in_force().exists()


def test_a_caption_of_200000_characters_is_flagged_and_waits_for_a_verdict(
    client, marketplace, campaign
):
    send_caption(client, marketplace.fresh_workers(1)[0], campaign, LONG)

    assert reconcile(campaign).approved == 0
    response = Response.objects.get()
    assert "breaks_rules" in response.assessment.codes
    assert "2,000 characters" in held().why
    assert SpotCheck.objects.open().get().response == response

    judge(response=response, verdict="BAD", reason="x", reviewer=UserFactory(), at=timezone.now())

    assert held().outcome == HeldOutcome.JUDGED
    assert reconcile(campaign).approved == 1


def test_a_good_caption_that_came_only_through_the_marketplace_is_paid(
    client, marketplace, campaign
):
    text = "A brown dog jumps over a low wooden fence in a garden."
    send_caption(client, marketplace.fresh_workers(1)[0], campaign, text)

    assert reconcile(campaign).approved == 1
    assert not HeldPayment.objects.exists()


def test_the_pages_list_what_is_held_and_take_the_decision(client, marketplace, campaign):
    post(marketplace.fresh_workers(1)[0], campaign, junk="<b>hello</b>")
    reconcile(campaign)
    client.force_login(UserFactory())
    listing = reverse("hits:held_payments", args=[campaign.slug])

    overview = client.get(campaign.get_absolute_url()).content.decode()
    page = client.get(listing).content.decode()
    reject = reverse("hits:reject_held", args=[campaign.slug, held().pk])
    without_reason = client.post(reject, {"reason": ""})
    done = client.post(reject, {"reason": "No caption."}, follow=True).content.decode()

    assert "1 held payment needs a decision" in overview
    assert "junk: &lt;b&gt;hello" in page
    assert "fits no task" in page
    assert without_reason.status_code == 422
    assert "Rejection scheduled" in done
    assert held().outcome == HeldOutcome.REJECT
    worker = reverse("qualcontrol:worker", args=[campaign.slug, held().worker.pseudonym])
    assert client.get(worker).status_code == 200


def test_a_campaign_with_a_held_payment_cannot_be_finished(marketplace, campaign):
    post(marketplace.fresh_workers(1)[0], campaign, junk="hello")
    reconcile(campaign)

    with pytest.raises(CannotMove, match="1 held payment needs a decision first"):
        finish(campaign=campaign, actor=None, at=NOON)

    decide(accept_held)
    finish(campaign=campaign, actor=None, at=NOON)


def test_a_payment_is_no_longer_held_after_automatic_approval(marketplace, campaign):
    post(marketplace.fresh_workers(1)[0], campaign, junk="hello")
    reconcile(campaign)
    marketplace_of(campaign).approve(Assignment.objects.get().assignment_id)

    reconcile(campaign, at=timezone.now() + timedelta(minutes=1))

    assert Assignment.objects.get().status == AssignmentStatus.APPROVED
    assert held().outcome == HeldOutcome.LAPSED


def test_junk_that_was_lost_and_is_listed_again_is_held_again(marketplace, campaign, monkeypatch):
    post(marketplace.fresh_workers(1)[0], campaign, junk="hello")
    reconcile(campaign)
    with monkeypatch.context() as patch:
        patch.setattr(Marketplace, "assignment", raise_gone)
        run = SimpleNamespace(marketplace=marketplace_of(campaign), at=timezone.now())
        assert ask_for(run, Assignment.objects.get())
    assert (Assignment.objects.get().status, held().outcome) == ("LOST", HeldOutcome.LAPSED)

    runs = [reconcile(campaign) for _ in range(2)]

    assert Assignment.objects.get().status == AssignmentStatus.SUBMITTED
    assert [run.approved for run in runs] == [0, 0]
    assert status_there(campaign) == ["Submitted"]
    decide(accept_held)
    assert reconcile(campaign).approved == 1


def test_the_payment_of_an_answer_from_the_page_is_not_held(client, marketplace, campaign):
    work(client, marketplace.fresh_workers(1)[0], campaign)

    assert reconcile(campaign).approved == 1
    assert not HeldPayment.objects.exists()


@pytest.fixture
def due(client, marketplace, requester):
    """A campaign with a caption that is due for approval, and with a held payment."""
    campaign = published(tasks=4, review={"share": 0, "first": 0, "approve_after_hours": 24})
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


def status_of_held(campaign):
    """Status of the held assignment at the marketplace."""
    assignment = Assignment.objects.get(submission__held_payment__isnull=False)
    return marketplace_of(campaign).assignment(assignment.assignment_id).status


def test_work_that_is_rejected_while_others_are_approved_is_never_paid(due, monkeypatch):
    reject = decision(reject_held)
    before_call(monkeypatch, "approve_assignment", lambda number: reject())

    first = reconcile(due)
    second = reconcile(due)

    assert (first.approved, second.rejected) == (1, 1)
    assert status_of_held(due) == "Rejected"


@pytest.mark.parametrize(
    ("meanwhile", "late", "status"),
    [(reject_held, accept_held, "Rejected"), (accept_held, reject_held, "Approved")],
)
def test_of_two_decisions_the_first_one_stands(due, meanwhile, late, status):
    first, second = decision(meanwhile), decision(late)

    with just_before_lock(first), pytest.raises(AlreadyDecided):
        second()
    reconcile(due)

    assert status_of_held(due) == status
    assert due.decisions.count() == 1


def test_accepted_work_cannot_be_rejected_while_it_is_being_paid(due, monkeypatch):
    decision(accept_held)()
    refused = []

    def reject(_number):
        try:
            decision(reject_held)()
        except CannotReject as error:
            refused.append(str(error))

    before_call(monkeypatch, "approve_assignment", reject)
    reconcile(due)

    assert any("is being paid" in message for message in refused)
    assert status_of_held(due) == "Approved"
    assert HeldPayment.objects.get().outcome == HeldOutcome.PAY


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite locks no rows")
def test_a_payment_waits_for_a_rejection_that_is_being_written(due):
    reject = decision(reject_held)
    account = Assignment.objects.get(submission__held_payment__isnull=False).account

    def pay():
        try:
            return reconcile(due)
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
    reconcile(due)

    assert status_of_held(due) == "Rejected"
