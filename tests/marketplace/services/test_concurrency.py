"""Concurrent actions: no slot is given twice, and nothing is done twice."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest

from marketplace import clock
from marketplace.errors import AssignmentClosed, DomainError
from marketplace.models import Account, Assignment, Event, Hit, Transfer, TransferKind
from marketplace.services import assignments, hits, mail_invitations, notifications, reviews
from marketplace.services.sweep import sweep
from tests import threads
from tests.marketplace.factories import NOON, make_hit, make_hit_type, make_requester, make_worker
from tests.marketplace.ledger import ledger_balance
from tests.marketplace.people import make_group

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(actions: list[Callable[[], object]]) -> list[object]:
    """Run the actions in threads that start together; return their results or DomainErrors."""

    def run(action: Callable[[], object]) -> object:
        try:
            return action()
        except DomainError as error:
            return error

    return threads.at_once(run, actions)


def test_two_hundred_workers_accept_at_once():
    hit_type = make_hit_type()
    for _ in range(21):
        make_hit(hit_type, max_assignments=9)
    workers = [make_worker() for _ in range(200)]

    results = at_once(
        [
            lambda worker=worker: assignments.accept(worker=worker, hit_type=hit_type, at=NOON)
            for worker in workers
        ]
    )

    accepted = [each for each in results if isinstance(each, Assignment)]
    assert len(accepted) == 189
    assert set(Hit.objects.values_list("available", "pending", "status")) == {
        (0, 9, "Unassignable")
    }


def test_a_double_click_accepts_two_different_hits_or_one():
    hit_type = make_hit_type()
    make_hit(hit_type, max_assignments=5)
    worker = make_worker()

    results = at_once([lambda: assignments.accept(worker=worker, hit_type=hit_type, at=NOON)] * 8)

    assert sum(isinstance(each, Assignment) for each in results) == 1
    assert Assignment.objects.count() == 1


def test_one_of_many_submissions_counts():
    hit = make_hit(max_assignments=2)
    assignment = assignments.accept(worker=make_worker(), hit_type=hit.hit_type, at=NOON)

    results = at_once(
        [
            lambda n=n: assignments.submit(assignment=assignment, answer=f"<a{n}/>", at=NOON)
            for n in range(8)
        ]
    )

    assert sum(isinstance(each, AssignmentClosed) for each in results) == 7
    hit.refresh_from_db()
    assert (hit.pending, hit.unreviewed) == (0, 1)


def test_approvals_rejections_and_the_sweeper_pay_once():
    requester = make_requester("100.00")
    hit = make_hit(make_hit_type(requester), max_assignments=4)
    submitted = []
    for _ in range(4):
        found = assignments.accept(worker=make_worker(), hit_type=hit.hit_type, at=NOON)
        assignments.submit(assignment=found, answer="<a/>", at=NOON)
        submitted.append(found)
    later = NOON + timedelta(days=2)

    at_once(
        [lambda each=each: reviews.approve(assignment=each, at=later) for each in submitted]
        + [
            lambda each=each: reviews.reject(assignment=each, feedback="no", at=later)
            for each in submitted
        ]
        + [lambda: sweep(at=later)] * 3
    )

    hit.refresh_from_db()
    assert (hit.unreviewed, hit.completed) == (0, 4)
    paid = Transfer.objects.filter(kind=TransferKind.REWARD).count()
    assert paid == Assignment.objects.filter(status="Approved").count()
    requester.refresh_from_db()
    assert requester.held_balance == Decimal(0)
    assert requester.available_balance == ledger_balance(requester, Account.AVAILABLE)


def test_the_last_dollar_is_spent_once():
    requester = make_requester("0.60")
    hit_type = make_hit_type(requester)

    results = at_once([lambda: make_hit(hit_type)] * 10)

    assert sum(isinstance(each, Hit) for each in results) == 5
    requester.refresh_from_db()
    assert (requester.available_balance, requester.held_balance) == (Decimal(0), Decimal("0.60"))


def test_one_request_token_makes_one_hit():
    hit_type = make_hit_type()
    request = {"question": make_hit().question, "lifetime": timedelta(hours=1)}

    at_once([lambda: hits.create_hit(hit_type=hit_type, at=NOON, token="same", **request)] * 8)

    assert hit_type.hits.count() == 1


def test_each_event_and_each_invitation_is_sent_by_one_process(monkeypatch):
    sent = []
    monkeypatch.setattr(notifications, "is_allowed", lambda *_: True)
    monkeypatch.setattr(notifications, "send", lambda _transport, to, _text: sent.append(to))
    requester, at = make_requester(), clock.now()
    for number in range(5):
        Event.objects.create(
            requester=requester,
            destination=f"queue {number}",
            transport="SQS",
            version="1",
            body={},
            happened_at=at,
            due_at=at,
        )
    addresses = [f"{number}@example.org" for number in range(5)]
    mail_invitations.add_addresses(group=make_group(), addresses=addresses, at=at)

    def mail_all() -> None:
        while mail_invitations.send_next(post=lambda row: sent.append(row.address), at=at):
            pass

    at_once([mail_all] * 3 + [lambda: notifications.deliver(at=at)] * 3)

    assert sorted(sent) == sorted([*addresses, *(f"queue {number}" for number in range(5))])
