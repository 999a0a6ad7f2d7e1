"""A HIT's type, and so its reward, changes while its work is being decided."""

from decimal import Decimal

import pytest

from marketplace.models import Account, Assignment
from marketplace.services import assignments, hits, reviews
from tests.marketplace.factories import NOON, make_hit, make_hit_type, make_requester, make_worker
from tests.marketplace.ledger import ledger_balance

pytestmark = pytest.mark.django_db


@pytest.fixture
def requester():
    return make_requester("10.00")


@pytest.fixture
def read_before(requester) -> Assignment:
    """A submitted assignment, read before its HIT's reward changed from $0.10 to $0.50."""
    hit = make_hit(make_hit_type(requester))
    worker = make_worker()
    accepted = assignments.accept(worker=worker, hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=accepted, answer="<a/>", at=NOON)
    read = Assignment.objects.select_related("hit__hit_type", "hit__requester", "worker").get()
    dearer = make_hit_type(requester, reward=Decimal("0.50"))
    hits.change_type(hit=hit, hit_type=dearer, at=NOON)
    return read


def balances(requester) -> tuple[Decimal, Decimal]:
    return tuple(
        ledger_balance(requester, account) for account in (Account.AVAILABLE, Account.HELD)
    )


def test_an_approval_pays_what_is_set_aside_now(requester, read_before):
    reviews.approve(assignment=read_before, at=NOON)

    assert balances(requester) == (Decimal("9.40"), Decimal("0.00"))


def test_a_rejection_gives_back_what_is_set_aside_now(requester, read_before):
    reviews.reject(assignment=read_before, feedback="Empty", at=NOON)

    assert balances(requester) == (Decimal("10.00"), Decimal("0.00"))


def test_an_overridden_rejection_pays_what_it_costs_now(requester, read_before):
    reviews.reject(assignment=read_before, feedback="Empty", at=NOON)

    reviews.approve(assignment=read_before, override_rejection=True, at=NOON)

    assert balances(requester) == (Decimal("9.40"), Decimal("0.00"))
