"""Approvals, rejections and bonuses: decided just before each call; failures do not stop others."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotate.models import Campaign, Response, Submission, Worker
from annotate.services.responses import discard
from hits.models import Assignment, AssignmentStatus, Bonus, Hit, MessageStatus, SyncProblem
from hits.mturk.client import Marketplace, marketplace_of
from hits.mturk.connection import MarketplaceError
from hits.queries.costs import spend
from hits.reconcile.bar import notify
from hits.reconcile.reconciler import reconcile
from hits.reconcile.settle import settle
from hits.services.bonuses import Wish, plan_bonuses
from hits.services.messages import plan_message
from hits.services.payments import ask_for_rejection, record_decision, take_up
from hits.services.syncs import ask_for_sync
from qualcontrol.services.errors import CannotReject
from tests.factories import UserFactory, make_campaign
from tests.hits.framed_work import published, work
from tests.hits.marketplace_calls import before_call
from tests.jobs import run_jobs
from tests.races import somebody_waits_for_a_lock
from tests.servers import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)

APPROVED = AssignmentStatus.APPROVED


@pytest.fixture
def campaign(client, marketplace, requester) -> Campaign:
    """A campaign of one image with three submitted captions that are due for approval."""
    campaign = published(tasks=1, review={"share": 0, "approve_after_hours": 24})
    for number, worker in enumerate(marketplace.fresh_workers(3)):
        work(client, worker, campaign, number)
    assert reconcile(campaign).ingested == 3
    make_due(campaign)
    return campaign


def make_due(campaign: Campaign, hours: int = 0) -> None:
    """Let the review window take so many hours."""
    review = {**campaign.config_json["review"], "approve_after_hours": hours}
    campaign.config_json = {**campaign.config_json, "review": review}
    campaign.save()
    campaign.__dict__.pop("config", None)


def assignments() -> list[Assignment]:
    return list(Assignment.objects.order_by("submitted_at", "pk"))


def reject(assignment: Assignment) -> None:
    """Discard and reject, as a reviewer does."""
    responses = list(assignment.submission.responses.all())
    discard(responses=responses)
    ask_for_rejection(
        response=responses[0], reason="A list.", actor=UserFactory(), at=timezone.now()
    )


def statuses_there(campaign: Campaign) -> list[str]:
    marketplace = marketplace_of(campaign)
    return [marketplace.assignment(each.assignment_id).status for each in assignments()]


def refuse(message: str = "Not today.", code: str = "") -> None:
    raise MarketplaceError(message, code, is_refusal=True)


def test_an_assignment_that_is_rejected_while_others_are_paid_is_not_paid(campaign, monkeypatch):
    monkeypatch.setattr("hits.reconcile.settle.TOGETHER", 2)
    last = assignments()[-1]
    before_call(monkeypatch, "approve_assignment", lambda n: reject(last) if n == 1 else None)

    done = reconcile(campaign)

    assert (done.approved, done.rejected) == (2, 1)
    assert statuses_there(campaign) == ["Approved", "Approved", "Rejected"]
    assert assignments()[-1].feedback == "A list."


def test_a_rejection_during_the_payment_is_refused_with_the_reason(campaign, monkeypatch):
    first, refused = assignments()[0], []

    def reject_first(number: int) -> None:
        if number == 1:
            with pytest.raises(CannotReject) as caught:
                reject(first)
            refused.append(str(caught.value))

    before_call(monkeypatch, "approve_assignment", reject_first)

    reconcile(campaign)

    assert "is being paid" in refused[0]
    assert set(statuses_there(campaign)) == {"Approved"}


def test_a_payment_whose_outcome_is_unknown_is_not_rejected_and_is_made_once(campaign):
    """As after a kill between decision and call, or between call and record."""
    first, second, _ = assignments()
    until = timezone.now() + timedelta(minutes=1)
    take_up(keys=[first.pk, second.pk], submitted_until=until)
    marketplace_of(campaign).approve(second.assignment_id)

    for assignment in (first, second):
        with pytest.raises(CannotReject, match="is being paid"):
            reject(assignment)
    reconcile(campaign)

    assert set(statuses_there(campaign)) == {"Approved"}
    assert {each.status for each in assignments()} == {APPROVED}
    assert not Assignment.objects.exclude(deciding="").exists()


@pytest.mark.parametrize(("is_recorded", "approved"), [(True, 2), (False, 3)])
def test_a_payment_that_another_reconciler_has_just_made_is_no_problem(
    campaign, monkeypatch, is_recorded, approved
):
    first, *_ = assignments()

    def pay_first(number: int) -> None:
        if number == 1:
            marketplace_of(campaign).approve(first.assignment_id)
            first.refresh_from_db()  # with the decision that was stored before the call
            if is_recorded:
                record_decision(assignment=first, at=timezone.now())

    before_call(monkeypatch, "approve_assignment", pay_first)

    done = reconcile(campaign)

    assert (done.error, done.approved) == ("", approved)
    assert {each.status for each in assignments()} == {APPROVED}
    assert not SyncProblem.objects.exists()
    assert set(statuses_there(campaign)) == {"Approved"}


def test_a_stored_decision_is_carried_out_although_the_clock_was_set_back(campaign):
    """Otherwise nobody could decide until the review window ends for the second time."""
    first, *_ = assignments()
    take_up(keys=[first.pk], submitted_until=timezone.now() + timedelta(minutes=1))
    make_due(campaign, hours=24)

    assert reconcile(campaign).approved == 1

    assert statuses_there(campaign) == ["Approved", "Submitted", "Submitted"]
    assert not Assignment.objects.exclude(deciding="").exists()


def test_a_payment_that_the_marketplace_refused_may_be_rejected(campaign, monkeypatch):
    first = assignments()[0]
    before_call(monkeypatch, "approve_assignment", lambda n: refuse() if n == 1 else None)

    done = reconcile(campaign)
    reject(first)
    again = reconcile(campaign)

    assert (done.approved, again.rejected) == (2, 1)
    assert statuses_there(campaign) == ["Rejected", "Approved", "Approved"]


def test_an_assignment_that_is_restored_before_the_call_is_paid(campaign):
    first = assignments()[0]
    reject(first)
    first.submission.responses.all().update(status="SUBMITTED")

    reconcile(campaign)

    assert set(statuses_there(campaign)) == {"Approved"}


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite locks no rows")
def test_a_payment_waits_for_a_rejection_that_is_being_written(campaign):
    first = assignments()[0]

    def pay() -> None:
        try:
            reconcile(campaign)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Worker.objects.select_for_update().get(pk=first.account.worker_id)
            paid = pool.submit(pay)
            end = time.monotonic() + PATIENCE
            while not somebody_waits_for_a_lock():
                assert not paid.done()
                assert time.monotonic() < end
                time.sleep(0.05)
            reject(first)
        paid.result(PATIENCE)

    assert statuses_there(campaign) == ["Rejected", "Approved", "Approved"]


def test_one_refused_approval_stops_no_other_and_is_told_until_it_works(campaign, monkeypatch):
    first = assignments()[0]
    with monkeypatch.context() as patch:
        before_call(patch, "approve_assignment", lambda n: refuse() if n == 1 else None)
        done = reconcile(campaign)
    problem = SyncProblem.objects.get()

    again = reconcile(campaign)

    assert (done.approved, done.problems) == (2, 1)
    assert (problem.subject, problem.message) == (f"assignment {first.pk}", "Not today.")
    assert "Not today." in done.error
    assert (again.approved, again.error) == (1, "")
    assert not SyncProblem.objects.exists()


def test_assignments_that_failed_before_are_tried_last(campaign, monkeypatch):
    first, asked = assignments()[0], []
    with monkeypatch.context() as patch:
        before_call(patch, "approve_assignment", lambda n: refuse())
        reconcile(campaign)
    SyncProblem.objects.exclude(subject=f"assignment {first.pk}").delete()
    original = Marketplace.approve
    monkeypatch.setattr(
        Marketplace, "approve", lambda self, key: (asked.append(key), original(self, key))
    )

    reconcile(campaign)

    assert asked[-1] == first.assignment_id
    assert len(asked) == 3


def test_an_empty_account_ends_the_payments_at_the_first_refusal(campaign, monkeypatch):
    asked = []

    def without_funds(number: int) -> None:
        asked.append(number)
        refuse("This Requester has insufficient funds.", "AWS.MechanicalTurk.InsufficientFunds")

    before_call(monkeypatch, "approve_assignment", without_funds)

    done = reconcile(campaign)

    assert asked == [1]
    assert "insufficient funds" in done.error
    assert not Assignment.objects.exclude(deciding="").exists()


def test_a_stopped_step_puts_back_only_its_own_decisions(campaign, monkeypatch):
    """The call of an earlier one may have succeeded."""
    first, second, third = assignments()
    take_up(keys=[second.pk], submitted_until=timezone.now() + timedelta(minutes=1))
    message, code = "No money.", "AWS.MechanicalTurk.InsufficientFunds"
    before_call(monkeypatch, "approve_assignment", lambda n: refuse(message, code))

    reconcile(campaign)

    decisions = dict(Assignment.objects.values_list("pk", "deciding"))
    assert decisions == {first.pk: "", second.pk: "APPROVED", third.pk: ""}


def test_new_slots_and_exclusions_do_not_wait_for_payments(campaign, monkeypatch):
    """Although every approval fails, slots for a discarded caption are opened."""
    slots = []
    discard(responses=Response.objects.all()[:1])

    def note_slots(number: int) -> None:
        slots.append(Hit.objects.count())
        refuse()

    before_call(monkeypatch, "approve_assignment", note_slots)

    done = reconcile(campaign)

    assert done.hits_created == 1
    assert slots[0] == 2


def test_payments_end_when_their_time_is_over_and_continue_in_the_next_run(campaign):
    at_once = reconcile(campaign, pays_for=timedelta())
    later = reconcile(campaign, pays_for=timedelta(minutes=5))

    assert (at_once.approved, later.approved) == (0, 3)


def test_a_requested_sync_leaves_payments_that_take_long_to_the_next_one(campaign, monkeypatch):
    monkeypatch.setattr("hits.job_kinds.PAYS_FOR", timedelta())
    ask_for_sync(campaign=campaign, user=None, at=timezone.now())

    (job,) = run_jobs()

    assert "0 approved" in job.result_text
    assert "Further payments are due: the next sync makes them." in job.result_text
    assert reconcile(campaign).approved == 3


@pytest.mark.parametrize(("few", "approved"), [(500, 0), (1, 3)])
def test_payments_are_short_while_the_last_slots_are_filled(campaign, monkeypatch, few, approved):
    monkeypatch.setattr("hits.reconcile.settle.SHORT", timedelta())
    monkeypatch.setattr("hits.reconcile.settle.FEW_SLOTS", few)
    campaign.tasks.update(wanted=4, answers_missing=1)

    missing = reconcile(campaign, pays_for=timedelta(minutes=5))
    campaign.tasks.update(wanted=3, answers_missing=0)
    complete = reconcile(campaign, pays_for=timedelta(minutes=5))

    assert (missing.approved, complete.approved) == (approved, 3 - approved)


def test_payments_take_their_time_while_nobody_can_fill_the_last_slots(campaign, monkeypatch):
    monkeypatch.setattr("hits.reconcile.settle.SHORT", timedelta())
    campaign.tasks.update(wanted=4, answers_missing=1)
    Campaign.objects.update(budget=spend(campaign).committed)

    assert reconcile(campaign, pays_for=timedelta(minutes=5)).approved == 3


def plan_thanks(campaign: Campaign) -> None:
    workers = [assignment.account.worker for assignment in assignments()]
    wishes = [Wish(worker.pseudonym, Decimal("0.10"), "Thanks") for worker in workers]
    plan_bonuses(campaign=campaign, wishes=wishes, key="a", at=timezone.now())


def test_bonuses_end_when_the_time_of_payments_is_over(campaign):
    plan_thanks(campaign)

    at_once = reconcile(campaign, steps=(settle,), pays_for=timedelta())

    assert at_once.has_more_to_pay
    assert Bonus.objects.unsent().count() == 3


def test_a_sync_that_may_pay_for_one_says_that_more_are_due(campaign):
    first = reconcile(campaign, at_most=1)
    rest = reconcile(campaign, at_most=5)

    assert (first.approved, first.has_more_to_pay) == (1, True)
    assert (rest.approved, rest.has_more_to_pay) == (2, False)


def test_a_sync_that_may_send_one_bonus_says_that_more_are_due(campaign):
    reconcile(campaign)
    plan_thanks(campaign)

    first = reconcile(campaign, at_most=1)

    assert (Bonus.objects.unsent().count(), first.has_more_to_pay) == (2, True)


def test_a_sync_sends_the_bonuses_of_its_campaign_alone(campaign):
    plan_thanks(campaign)

    reconcile(make_campaign(tasks=1))
    assert Bonus.objects.unsent().count() == 3

    reconcile(campaign)
    assert not Bonus.objects.unsent().exists()


def test_bonuses_do_not_wait_for_approvals_that_fail(campaign, monkeypatch):
    monkeypatch.setattr("hits.reconcile.run.MOST_IN_A_ROW", 2)
    before_call(monkeypatch, "approve_assignment", lambda n: refuse())
    plan_thanks(campaign)

    done = reconcile(campaign, steps=(settle,))

    assert "2 in a row failed" in done.error
    assert not Bonus.objects.unsent().exists()


def test_a_bonus_that_is_refused_stops_no_other(campaign, monkeypatch):
    plan_thanks(campaign)
    before_call(monkeypatch, "send_bonus", lambda n: refuse() if n == 1 else None)

    done = reconcile(campaign, steps=(settle,))

    assert done.problems == 1
    assert Bonus.objects.filter(sent_at=None).count() == 1


def plan_one(campaign: Campaign, age: timedelta) -> Bonus:
    wish = Wish(assignments()[0].account.worker.pseudonym, Decimal("0.10"), "Thanks")
    at = timezone.now() - age
    (bonus,) = plan_bonuses(campaign=campaign, wishes=[wish], key="a", at=at)
    return bonus


@pytest.mark.parametrize(
    ("error", "is_over"),
    [
        (MarketplaceError("Worker has closed the account.", "RequestError", is_refusal=True), True),
        (MarketplaceError("Too fast.", "ThrottlingException", is_refusal=True), False),
        (MarketplaceError("Who?", "AccessDeniedException", is_refusal=True), False),
        (MarketplaceError("No answer.", "NoAnswer"), False),
        (MarketplaceError("404 page not found", "404", is_refusal=True), False),
    ],
)
def test_a_bonus_that_is_refused_for_a_day_is_given_up_and_frees_its_budget(
    campaign, monkeypatch, error, is_over
):
    def fail(_: int) -> None:
        raise error

    bonus = plan_one(campaign, age=timedelta(hours=23))
    left = spend(campaign).left
    before_call(monkeypatch, "send_bonus", fail)

    reconcile(campaign, steps=(settle,))
    assert spend(campaign).left == left
    Bonus.objects.update(planned_at=timezone.now() - timedelta(hours=25))
    done = reconcile(campaign, steps=(settle,))

    bonus.refresh_from_db()
    assert (done.problems == 0, bonus.refusal == str(error)) == (is_over, is_over)
    assert spend(campaign).left == left + (bonus.amount + bonus.fee if is_over else 0)


def test_a_bonus_for_what_the_marketplace_no_longer_has_is_given_up(campaign, monkeypatch):
    """As after the marketplace was restored from an older backup."""

    def is_gone(_: int) -> None:
        refuse("Assignment X does not exist.", "AWS.MechanicalTurk.AssignmentDoesNotExist")

    bonus = plan_one(campaign, age=timedelta(hours=25))
    before_call(monkeypatch, "list_bonus_payments", is_gone)
    before_call(monkeypatch, "send_bonus", is_gone)

    done = reconcile(campaign, steps=(settle,))

    bonus.refresh_from_db()
    assert (done.problems, bonus.refusal) == (0, "Assignment X does not exist.")
    assert done.notes == "1 bonus was refused for good and is not paid."


@pytest.mark.parametrize(("hours", "token"), [(48, "forgotten"), (23, "")])
def test_a_bonus_that_a_killed_process_sent_is_not_paid_again(campaign, hours, token):
    bonus, there = plan_one(campaign, age=timedelta(hours=hours)), marketplace_of(campaign)
    there.send_bonus(
        worker_id=bonus.assignment.account.marketplace_id,
        assignment_id=bonus.assignment.assignment_id,
        amount=bonus.amount,
        reason=bonus.reason,
        token=token or bonus.token,
    )

    reconcile(campaign, steps=(settle,))

    assert len(there.bonuses(bonus.assignment.assignment_id)) == 1
    assert not Bonus.objects.filter(sent_at=None).exists()


# For two equal bonuses: their ages in hours, and those that a killed process has paid unrecorded.
KILLED = [
    ((48, 48), ()),
    ((48, 48), (0,)),
    ((48, 48), (0, 1)),
    ((23, 23), (1,)),
    ((48, 0), (0,)),
    ((48, 0), (1,)),
]


def test_each_of_two_equal_bonuses_is_paid_once(campaign):
    """Such as those of one list that names a bonus twice; of two lists the second is refused."""
    first, there = assignments()[0], marketplace_of(campaign)
    amount, now = Decimal("0.10"), timezone.now()
    for case, (hours, paid) in enumerate(KILLED):
        for number, age in enumerate(hours):
            bonus = Bonus.objects.create(
                assignment=first,
                token=f"{case}-{number}",
                amount=amount,
                fee=Decimal("0.02"),
                reason=f"Thanks {case}",
                planned_at=now - timedelta(hours=age),
            )
            if number in paid:
                there.send_bonus(
                    worker_id=first.account.marketplace_id,
                    assignment_id=first.assignment_id,
                    amount=amount,
                    reason=bonus.reason,
                    token=f"forgotten {bonus.token}" if age > 24 else bonus.token,
                )

    for _ in range(2):
        reconcile(campaign, steps=(settle,))

    listed = Counter(bonus.reason for bonus in there.bonuses(first.assignment_id))
    assert listed == {f"Thanks {case}": 2 for case in range(len(KILLED))}
    assert not Bonus.objects.filter(sent_at=None).exists()


def test_a_message_is_sent_once(campaign, monkeypatch):
    calls = []
    before_call(monkeypatch, "notify_workers", calls.append)
    message = plan_message(
        campaign=campaign,
        pseudonyms=[each.account.worker.pseudonym for each in assignments()],
        subject="Thanks",
        text="Your captions are good.",
        key="one",
        sender=UserFactory(),
        at=timezone.now(),
    )

    for _ in range(2):
        reconcile(campaign, steps=(notify,))

    assert len(calls) == 1
    # The marketplace reaches some workers and does not reach others; that is known of each.
    waiting = [MessageStatus.PLANNED, MessageStatus.SENDING]
    assert message.recipients.count() == 3
    assert not message.recipients.filter(status__in=waiting).exists()


def test_a_message_that_is_refused_waits_for_the_next_sync(campaign, monkeypatch):
    calls = []

    def refuse_the_first(number: int) -> None:
        calls.append(number)
        if number == 1:
            refuse()

    before_call(monkeypatch, "notify_workers", refuse_the_first)
    message = plan_message(
        campaign=campaign,
        pseudonyms=[assignments()[0].account.worker.pseudonym],
        subject="Thanks",
        text="Your captions are good.",
        key="one",
        sender=UserFactory(),
        at=timezone.now(),
    )

    failed = reconcile(campaign, steps=(notify,))
    waits = message.recipients.get().status
    reconcile(campaign, steps=(notify,))

    assert (failed.problems, waits, calls) == (1, MessageStatus.PLANNED, [1, 2])
    assert message.recipients.get().status != MessageStatus.PLANNED


def test_surplus_assignments_of_a_fault_do_not_keep_a_hit_from_being_settled(campaign):
    """More rows than the HIT has slots, from a faulty listing."""
    hit = Hit.objects.get()
    for number in range(2):
        copy = assignments()[number]
        copy.submission, copy.assignment_id = Submission.objects.create(), f"SURPLUS{number}"
        copy.save(force_insert=True)

    done = reconcile(campaign)

    hit.refresh_from_db()
    assert (hit.ingested, hit.settled) == (3, 3)
    assert done.approved == 3
    assert spend(campaign).open == 0
