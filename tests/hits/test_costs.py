"""The cost of one assignment, compared with published prices."""

from decimal import Decimal

import pytest

from hits.queries.costs import fee_for


@pytest.mark.parametrize(
    ("assignments", "masters", "fee"),
    [(9, False, "0.02"), (11, False, "0.04"), (9, True, "0.03"), (11, True, "0.05")],
)
def test_the_fee_of_a_caption_at_ten_cents(assignments, masters, fee):
    """The pricing page rounds half a cent up: 25% and 45% of ten cents are 2.5 and 4.5."""
    assert fee_for(Decimal("0.10"), assignments, masters=masters) == Decimal(fee)
