"""Random events on HITs, and invariants that are checked after each."""

from contextlib import suppress
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from marketplace.errors import DomainError
from marketplace.models import LIVE, Account, Assignment, AssignmentStatus, Hit, HitStatus
from marketplace.services import assignments, hits, reviews
from marketplace.services.sweep import sweep
from tests.marketplace.factories import NOON, make_hit, make_hit_type, make_requester, make_worker
from tests.marketplace.ledger import ledger_balance

WORKERS = 4
who = st.integers(0, WORKERS - 1)
which = st.integers(0, 30)


class HitLife(RuleBasedStateMachine):
    """Two HITs of one type, four workers, a requester with little money, and a clock."""

    def __init__(self) -> None:
        super().__init__()
        # Each run of the machine begins with an empty database, and leaves it so.
        self.transaction = transaction.atomic()
        self.transaction.__enter__()

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.transaction.__exit__(None, None, None)

    @initialize(slots=st.sampled_from([1, 3, 9, 10]), balance=st.sampled_from(["2.00", "50.00"]))
    def begin(self, slots: int, balance: str) -> None:
        self.at = NOON
        self.requester = make_requester(balance)
        self.hit_type = make_hit_type(self.requester)
        self.workers = [make_worker() for _ in range(WORKERS)]
        self.hits: list[Hit] = []
        for count in (slots, 2):
            self.attempt(self._create, count)

    def _create(self, count: int) -> None:
        self.hits.append(make_hit(self.hit_type, max_assignments=count))

    def attempt(self, action, *args, **kwargs) -> None:
        """Run the action; it may be refused, but the invariants must hold."""
        with suppress(DomainError):
            action(*args, **kwargs)

    def assignment(self, position: int) -> Assignment | None:
        rows = list(Assignment.objects.select_related("hit__hit_type", "hit__requester", "worker"))
        return rows[position % len(rows)] if rows else None

    @rule(worker=who)
    def accept(self, worker: int) -> None:
        self.attempt(
            assignments.accept, worker=self.workers[worker], hit_type=self.hit_type, at=self.at
        )

    @rule(position=which)
    def submit(self, position: int) -> None:
        if found := self.assignment(position):
            self.attempt(assignments.submit, assignment=found, answer="<x/>", at=self.at)

    @rule(position=which)
    def give_back(self, position: int) -> None:
        if found := self.assignment(position):
            self.attempt(assignments.give_back, assignment=found, at=self.at)

    @rule(position=which, override=st.booleans())
    def approve(self, position: int, override: bool) -> None:
        if found := self.assignment(position):
            self.attempt(reviews.approve, assignment=found, at=self.at, override_rejection=override)

    @rule(position=which)
    def reject(self, position: int) -> None:
        if found := self.assignment(position):
            self.attempt(reviews.reject, assignment=found, feedback="no", at=self.at)

    @rule(position=which, minutes=st.sampled_from([-1, 30, 600]))
    def change_expiration(self, position: int, minutes: int) -> None:
        if self.hits:
            hit = self.hits[position % len(self.hits)]
            moment = self.at + timedelta(minutes=minutes)
            self.attempt(hits.update_expiration, hit=hit, expires_at=moment, at=self.at)

    @rule(position=which, count=st.integers(1, 3))
    def extend(self, position: int, count: int) -> None:
        if self.hits:
            hit = self.hits[position % len(self.hits)]
            self.attempt(hits.add_assignments, hit=hit, count=count, at=self.at)

    @rule(position=which, revert=st.booleans())
    def mark(self, position: int, revert: bool) -> None:
        if self.hits:
            hit = self.hits[position % len(self.hits)]
            self.attempt(hits.update_review_status, hit=hit, revert=revert)

    @rule(position=which)
    def dispose(self, position: int) -> None:
        if self.hits:
            self.attempt(hits.delete, hit=self.hits[position % len(self.hits)], at=self.at)

    @rule(minutes=st.sampled_from([1, 11, 61, 60 * 25, 60 * 24 * 121]))
    def let_time_pass(self, minutes: int) -> None:
        self.at += timedelta(minutes=minutes)
        while sweep(at=self.at):
            pass

    @invariant()
    def counts_are_those_of_the_assignments(self) -> None:
        for hit in Hit.objects.all():
            statuses = list(hit.assignments.values_list("status", flat=True))
            assert hit.pending == statuses.count(AssignmentStatus.ACCEPTED)
            assert hit.unreviewed == statuses.count(AssignmentStatus.SUBMITTED)
            decided = (AssignmentStatus.APPROVED, AssignmentStatus.REJECTED)
            assert hit.completed == sum(statuses.count(status) for status in decided)
            live = sum(status in LIVE for status in statuses)
            assert hit.max_assignments == hit.available + live

    @invariant()
    def status_follows_from_the_counts(self) -> None:
        for hit in Hit.objects.undisposed():
            if hit.available and not hit.is_expired:
                assert hit.status == HitStatus.ASSIGNABLE
            elif hit.pending:
                assert hit.status == HitStatus.UNASSIGNABLE
            else:
                assert hit.status in (HitStatus.REVIEWABLE, HitStatus.REVIEWING)

    @invariant()
    def the_books_balance(self) -> None:
        if not hasattr(self, "requester"):
            return
        self.requester.refresh_from_db()
        requester = self.requester
        assert requester.available_balance == ledger_balance(requester, Account.AVAILABLE)
        assert requester.held_balance == ledger_balance(requester, Account.HELD)
        open_cost = sum(
            (
                hit.cost * (hit.available + hit.pending + hit.unreviewed)
                for hit in Hit.objects.undisposed().select_related("hit_type")
            ),
            Decimal(),
        )
        assert requester.held_balance == open_cost

    @invariant()
    def workers_are_paid_for_what_was_approved(self) -> None:
        for worker in getattr(self, "workers", []):
            worker.refresh_from_db()
            approved = worker.assignments.filter(status=AssignmentStatus.APPROVED).count()
            rejected = worker.assignments.filter(status=AssignmentStatus.REJECTED).count()
            assert (worker.approved_count, worker.rejected_count) == (approved, rejected)
            # A fee names the worker too, but goes to the marketplace.
            earned = worker.transfers.filter(target=Account.WORKER)
            paid = sum(earned.values_list("amount", flat=True), Decimal())
            assert paid == approved * self.hit_type.reward


@pytest.mark.slow
@pytest.mark.django_db
def test_counts_states_and_money_hold_whatever_happens():
    """Conformance check 17."""
    run_state_machine_as_test(
        HitLife,
        settings=settings(
            max_examples=8,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
