"""The estimate of the share of bad responses."""

import random
from collections import Counter
from statistics import mean

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import betaincinv

from qualcontrol.risk.estimate import Sampled, estimate_share, exact_interval


def test_without_checks_nothing_is_known():
    found = estimate_share([], kept=100, removed=0, unseen=100)

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


def test_responses_that_the_sample_found_bad_are_removed():
    sample = [Sampled(1, False, good=90, bad=10, written=1000, judged=100)]

    found = estimate_share(sample, kept=990, removed=10, unseen=900)

    assert found.share == pytest.approx((0.1 * 1000 - 10) / 990)


def test_a_check_counts_by_what_other_checks_have_not_seen_of_its_worker():
    sample = [
        Sampled(1, False, good=2, bad=8, written=50, judged=40),  # 10 of the other 40 are unseen
        Sampled(2, False, good=30, bad=0, written=430, judged=130),  # 300 of the other 400
    ]

    found = estimate_share(sample, kept=450, removed=30, unseen=310)

    expected = 8 * 0.25 / (10 * 0.25 + 30 * 0.75) * 310 / 450
    assert found.share == pytest.approx(expected, rel=0.001)


def test_a_check_counts_by_its_workers_others_with_flags_or_without():
    """Ten of the worker's responses have flags, and nine of these were checked."""
    sample = [
        Sampled(1, True, good=0, bad=1, written=10, judged=9),
        Sampled(1, False, good=9, bad=0, written=90, judged=9),
    ]

    found = estimate_share(sample, kept=99, removed=1, unseen=82)

    expected = (1 / 9) / (1 / 9 + 9) * 82 / 99
    assert found.share == pytest.approx(expected, rel=0.01)


def test_if_all_has_been_seen_nothing_bad_is_left():
    sample = [Sampled(1, False, good=90, bad=10, written=1000, judged=1000)]

    assert estimate_share(sample, kept=900, removed=100, unseen=0).share == 0


counts = st.integers(0, 60)
groups = st.builds(Sampled, st.integers(1, 9), st.booleans(), counts, counts, counts, counts)


@given(st.lists(groups), *[st.integers(0, 500)] * 3)
def test_estimate_lies_in_its_interval(sample, kept, removed, unseen):
    found = estimate_share(sample, kept=kept, removed=removed, unseen=unseen)

    assert 0 <= found.low <= found.share <= found.high <= 1


def reviewed(rng, *, by_worker):
    """300 responses of 25 workers, four of them careless: the estimate after 5 required checks and
    60 of the most suspicious responses, and the true share of bad ones among what is left.
    Suspicious are those with a flag and, `by_worker`, those of careless workers."""
    careless = rng.sample(range(25), 4)
    workers = [rng.randrange(25) for _ in range(300)]
    is_bad = [rng.random() < (0.4 if worker in careless else 0.01) for worker in workers]
    flagged = [rng.random() < (0.5 if bad else 0.05) for bad in is_bad]
    groups = list(zip(workers, flagged, strict=True))
    suspicion = [
        has_flag + (by_worker and worker in careless) + rng.random() / 2
        for worker, has_flag in groups
    ]
    required = rng.sample(range(300), 5)
    judged = {*required, *sorted(range(300), key=suspicion.__getitem__)[-60:]}
    verdicts = Counter((groups[number], is_bad[number]) for number in required)
    written, seen = Counter(groups), Counter(groups[number] for number in judged)
    sampled = {workers[number] for number in required}
    sample = [
        Sampled(*group, verdicts[group, False], verdicts[group, True], number, seen[group])
        for group, number in written.items()
        if group[0] in sampled
    ]
    removed = sum(is_bad[number] for number in judged)
    found = estimate_share(sample, kept=300 - removed, removed=removed, unseen=300 - len(judged))
    return found, (sum(is_bad) - removed) / (300 - removed)


@pytest.mark.parametrize("by_worker", [True, False])
def test_few_required_checks_beside_many_by_risk_hardly_overstate_what_is_left(by_worker):
    rng = random.Random(1)

    results = [reviewed(rng, by_worker=by_worker) for _ in range(1000)]

    truth = mean(true for _, true in results)
    assert 0.005 < truth < 0.04
    # The share of all responses, less what was found bad, cut off at 0, is 5 and 3 points too much.
    # Without regard to flags it is 0.7 and 2.2 points.
    assert abs(mean(found.share for found, _ in results) - truth) < 0.005
    assert mean(found.low <= true <= found.high for found, true in results) >= 0.95


@pytest.mark.parametrize("share", [0.01, 0.1, 0.4])
def test_interval_covers_the_truth_in_95_of_100_samples(share):
    rng = random.Random(1)
    samples = [sum(rng.random() < share for _ in range(60)) for _ in range(2000)]

    intervals = {bad: exact_interval(bad, 60) for bad in set(samples)}
    covered = sum(low <= share <= high for low, high in (intervals[bad] for bad in samples))

    assert covered >= 0.95 * len(samples)
