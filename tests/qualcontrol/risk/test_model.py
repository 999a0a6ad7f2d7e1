"""The risk model: a worker's estimate from flags and verdicts."""

import random
from math import exp

import numpy as np
import pytest
from django.conf import settings as django_settings
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from qualcontrol.flags.flag import label_of
from qualcontrol.risk.hypotheses import BLOCK_STARTS, FAMILIES, NORMAL_AT, NORMAL_BELOW, block_of
from qualcontrol.risk.model import (
    CERTAINTY,
    LEAST_BAD_VERDICTS,
    Crowd,
    Group,
    WorkerEstimate,
    fit,
    reasons,
)

WORKER = 0
# Forty others, of whose responses one in fifty is flagged.
OTHERS = [
    group
    for worker in range(1, 41)
    for group in (
        Group(worker, 0, (), unjudged=25),
        Group(worker, 1, (), unjudged=24),
        Group(worker, 1, ("unlike",), unjudged=1),
    )
]


def estimate_of(*groups: Group) -> WorkerEstimate:
    """The estimate of a worker with these groups, in a crowd with the others."""
    return fit([*groups, *OTHERS]).estimate(WORKER)


def is_excludable(crowd: Crowd) -> bool:
    estimate = crowd.estimate(WORKER)
    return crowd.is_excludable(estimate.risk, estimate.bad)


def test_a_worker_without_flags_and_verdicts_has_a_low_risk():
    estimate = estimate_of(Group(WORKER, 0, (), unjudged=25))

    assert estimate.risk < 0.2
    assert estimate.responses == 25


def test_many_flags_make_a_worker_suspicious():
    flagged = estimate_of(
        Group(WORKER, 0, (), unjudged=15), Group(WORKER, 0, ("unlike",), unjudged=10)
    )

    assert flagged.risk > 0.5


def test_good_verdicts_on_flagged_responses_clear_a_worker():
    suspicion = Group(WORKER, 0, (), unjudged=15), Group(WORKER, 0, ("unlike",), unjudged=10)
    cleared = Group(WORKER, 0, (), unjudged=15), Group(WORKER, 0, ("unlike",), 5, good=5)

    assert estimate_of(*cleared).risk < 0.1 < estimate_of(*suspicion).risk


def test_bad_verdicts_raise_the_risk_of_a_worker_without_flags():
    unjudged = estimate_of(Group(WORKER, 0, (), unjudged=25))
    judged = estimate_of(Group(WORKER, 0, (), unjudged=20, bad=3, good=2))

    assert unjudged.risk < CERTAINTY <= judged.risk


def test_one_bad_verdict_among_many_good_ones_is_a_slip():
    estimate = estimate_of(Group(WORKER, 0, (), good=24, bad=1), Group(WORKER, 1, (), good=25))

    assert estimate.risk < 0.05
    assert estimate.share == pytest.approx(1 / 50, abs=0.01)


def test_a_fully_judged_worker_has_the_share_that_was_found():
    estimate = estimate_of(Group(WORKER, 0, (), good=15, bad=10))

    assert estimate.share == pytest.approx(0.4)
    assert estimate.risk > 0.99


def test_a_fully_judged_workers_interval_is_the_share_that_was_found():
    estimate = estimate_of(Group(WORKER, 0, (), good=15, bad=10))

    assert (estimate.low, estimate.high) == (pytest.approx(0.4), pytest.approx(0.4))


@pytest.mark.parametrize("written", [1, 2, 5])
def test_the_interval_of_a_worker_with_few_responses_has_whole_responses_as_ends(written):
    estimate = estimate_of(Group(WORKER, 0, (), unjudged=written))

    assert estimate.low == 0
    assert estimate.high * written == pytest.approx(round(estimate.high * written))
    assert estimate.high >= 1 / written


def test_an_interval_grows_narrow_as_verdicts_come():
    widths = [
        estimate.high - estimate.low
        for judged in (4, 40, 160)
        for estimate in [estimate_of(Group(WORKER, 0, (), 200 - judged, judged // 2, judged // 2))]
    ]

    assert widths == sorted(widths, reverse=True)
    assert 0 < widths[-1] < 0.11 < widths[0]


def test_an_interval_leaves_out_what_verdicts_exclude():
    estimate = estimate_of(Group(WORKER, 0, ("unlike",), unjudged=10, good=6, bad=4))

    assert 4 / 20 <= estimate.low < estimate.high <= 14 / 20


def test_a_worker_who_became_careless_is_found_after_much_good_work():
    at_first = [Group(WORKER, block, (), unjudged=20, good=5) for block in (0, 1)]
    later = Group(WORKER, 2, (), unjudged=30, good=2, bad=6)

    crowd = fit([*at_first, later, *OTHERS])

    assert crowd.estimate(WORKER).risk > CERTAINTY
    assert crowd.chance_bad(WORKER, 2, ()) > 5 * crowd.chance_bad(WORKER, 0, ())
    assert "around response 50" in list(reasons(crowd, WORKER, label_of))[-1].sentence


def test_flags_alone_exclude_nobody():
    crowd = fit([Group(WORKER, 0, ("unlike",), unjudged=25), *OTHERS])

    assert not is_excludable(crowd)


def test_exclusion_takes_several_bad_verdicts():
    few = LEAST_BAD_VERDICTS - 1
    groups = [Group(WORKER, 0, ("unlike",), unjudged=25 - few, bad=few), *OTHERS]
    more = [groups[0]._replace(unjudged=24 - few, bad=few + 1), *OTHERS]

    assert not is_excludable(fit(groups))
    assert is_excludable(fit(more))


def test_a_flag_that_many_good_workers_have_is_no_evidence():
    habit = [
        Group(worker, 0, ("pasted",), unjudged=20, good=5 * (worker < 10)) for worker in range(40)
    ]

    crowd = fit([*habit, Group(99, 0, ("pasted",), unjudged=20)])

    assert crowd.estimate(99).risk < 0.2


def test_effects_add_up_to_the_log_odds_of_the_risk():
    flagged = Group(WORKER, 0, ("unlike",), unjudged=6, bad=1)
    crowd = fit([flagged, Group(WORKER, 0, (), unjudged=18), *OTHERS])

    found = list(reasons(crowd, WORKER, label_of))

    odds = exp(sum(reason.effect for reason in found))
    assert odds / (1 + odds) == pytest.approx(crowd.estimate(WORKER).risk, rel=1e-6)
    assert [reason.sentence for reason in found][1:] == [
        "Frequent flags in 25 responses: “unlike the others” 7 times (usual: 1.9%).",
        "Verdicts: 1 bad, 0 good.",
    ]


@pytest.mark.parametrize(("others", "says"), [(8, False), (9, True)])
def test_nothing_is_said_of_the_share_of_careless_workers_among_very_few(others, says):
    crowd = fit([Group(worker, 0, (), unjudged=10) for worker in range(others + 1)])

    found = list(reasons(crowd, 0, label_of))

    assert any("appear to be careless" in reason.sentence for reason in found) == says
    odds = exp(sum(reason.effect for reason in found))
    assert odds / (1 + odds) == pytest.approx(crowd.estimate(0).risk, rel=1e-6)


numbers = st.integers(0, 12)
groups_of_a_worker = st.lists(
    st.builds(
        Group,
        worker=st.integers(0, 6),
        block=st.integers(0, len(BLOCK_STARTS) - 1),
        codes=st.lists(st.sampled_from(["a", "b", "c"]), unique=True).map(sorted).map(tuple),
        unjudged=numbers,
        good=numbers,
        bad=numbers,
    ).filter(lambda group: group.unjudged + group.good + group.bad > 0),
    unique_by=lambda group: (group.worker, group.block, group.codes),
    max_size=20,
)


def estimates(crowd: Crowd) -> list[WorkerEstimate]:
    return [crowd.estimate(worker) for worker in crowd.workers]


@settings(max_examples=40, deadline=None)
@given(groups_of_a_worker, st.randoms(use_true_random=False))
def test_estimates_are_probabilities_and_do_not_depend_on_the_order_of_groups(groups, rng):
    shuffled = rng.sample(groups, len(groups))

    found = estimates(fit(groups))

    assert found == estimates(fit(shuffled))
    assert all(0 <= estimate.risk <= 1 for estimate in found)
    assert all(0 <= estimate.low <= estimate.share <= estimate.high <= 1 for estimate in found)


@settings(max_examples=20, deadline=None)
@given(groups_of_a_worker)
def test_learned_values_give_each_worker_alone_the_same_risk(groups):
    crowd = fit(groups)

    for worker in crowd.workers:
        own = [group for group in groups if group.worker == worker]
        alone = fit(own, learned=crowd.learned)
        assert alone.estimate(worker).risk == pytest.approx(crowd.estimate(worker).risk, abs=1e-9)


def test_families_name_existing_flags():
    explained = (django_settings.BASE_DIR / "docs" / "flags.md").read_text(encoding="utf-8")

    assert all(f"`{code}`" in explained for codes in FAMILIES.values() for code in codes)


def test_a_flag_that_is_not_in_the_learned_values_is_ignored():
    learned = fit(OTHERS).learned

    alone = fit([Group(WORKER, 0, ("brand_new",), unjudged=5)], learned=learned)

    assert 0 < alone.chance_bad(WORKER, 0, ("brand_new",)) < 0.2


def test_a_campaign_without_responses_has_no_workers():
    assert fit([]).workers == []


def test_a_position_is_between_the_starts_of_its_block_and_the_next():
    positions = random.Random(0).sample(range(10_000), 200)

    for position in positions:
        block = block_of(position)
        assert BLOCK_STARTS[block] <= position < [*BLOCK_STARTS, 10**9][block + 1]


def test_the_table_of_the_normal_distribution_is_less_than_a_millionth_off():
    points = np.linspace(-10, 10, 30_011)

    assert np.interp(points, NORMAL_AT, NORMAL_BELOW) == pytest.approx(ndtr(points), abs=1e-6)
