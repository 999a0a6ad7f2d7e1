"""The estimate of the share of bad responses."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import betaincinv

from qualcontrol.risk.estimate import estimate_share, exact_interval


def test_without_checks_nothing_is_known():
    found = estimate_share(good=0, bad=0, kept=100, removed=0)

    assert (found.low, found.high, found.checks) == (0.0, 1.0, 0)


def test_interval_of_ten_good_checks_is_that_of_clopper_and_pearson():
    low, high = exact_interval(0, 10)

    # The closed form for no success: 1 - 0.025 ** (1 / 10).
    assert (low, high) == pytest.approx((0.0, 1 - 0.025**0.1))


@given(st.integers(1, 2000), st.integers(0, 2000))
@example(2000, 2000)
@example(100_000, 3)
def test_interval_is_that_of_the_beta_distribution(trials, successes):
    successes = min(successes, trials)

    low, high = exact_interval(successes, trials)

    expected_low = betaincinv(successes, trials - successes + 1, 0.025) if successes else 0
    expected_high = (
        betaincinv(successes + 1, trials - successes, 0.975) if trials > successes else 1
    )
    assert (low, high) == pytest.approx((expected_low, expected_high), rel=1e-6)


def test_what_was_found_bad_and_removed_is_taken_off():
    found = estimate_share(good=90, bad=10, kept=950, removed=50)

    assert found.share == pytest.approx((0.1 * 1000 - 50) / 950)


def test_removing_all_that_is_bad_leaves_nothing():
    found = estimate_share(good=90, bad=10, kept=900, removed=100)

    assert found.share == 0


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 500), st.integers(0, 500))
def test_estimate_lies_in_its_interval(good, bad, kept, removed):
    found = estimate_share(good=good, bad=bad, kept=kept, removed=removed)

    assert 0 <= found.low <= found.share <= found.high <= 1


@pytest.mark.parametrize("share", [0.01, 0.1, 0.4])
def test_interval_covers_the_truth_in_95_of_100_samples(share):
    rng = random.Random(1)
    samples = [sum(rng.random() < share for _ in range(60)) for _ in range(2000)]

    intervals = {bad: exact_interval(bad, 60) for bad in set(samples)}
    covered = sum(low <= share <= high for low, high in (intervals[bad] for bad in samples))

    assert covered >= 0.95 * len(samples)
