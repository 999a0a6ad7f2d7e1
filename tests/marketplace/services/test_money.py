"""Fees, compared with published prices."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.models import HitType
from marketplace.services.money import assignment_fee

money = st.decimals("0.01", "1000", places=2)


def fee_of(reward, *, max_assignments):
    return assignment_fee(HitType(reward=reward), max_assignments=max_assignments)


@pytest.mark.parametrize(
    ("reward", "assignments", "fee"),
    [
        ("0.10", 9, "0.02"),
        ("0.10", 10, "0.04"),
        ("0.01", 1, "0.01"),
        ("0.05", 1, "0.01"),
        ("0.12", 1, "0.02"),
        ("0.13", 1, "0.03"),
        ("0.00", 20, "0.00"),
    ],
)
def test_fee_of_an_assignment(reward, assignments, fee):
    found = fee_of(Decimal(reward), max_assignments=assignments)

    assert found == Decimal(fee)


def test_captions_of_a_whole_benchmark_cost_what_was_published():
    small = fee_of(Decimal("0.10"), max_assignments=9)
    large = fee_of(Decimal("0.10"), max_assignments=11)

    assert 166_100 * (Decimal("0.10") + small) == Decimal("19932.00")
    assert 166_100 * (Decimal("0.10") + large) == Decimal("23254.00")


@given(money, st.integers(1, 100))
def test_a_fee_is_whole_cents_and_within_a_cent_of_its_share(reward, assignments):
    fee = fee_of(reward, max_assignments=assignments)

    share = Decimal("0.2") if assignments < 10 else Decimal("0.4")
    assert fee == fee.quantize(Decimal("0.01")) >= Decimal("0.01")
    assert abs(fee - reward * share) <= Decimal("0.01")
