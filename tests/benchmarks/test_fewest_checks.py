"""The minimum number of checks for a choice without flags."""

from statistics import median

import numpy as np
import pytest

from benchmarks.fewest_checks import (
    best_index,
    exclusions,
    find,
    in_turn,
    posteriors,
    run_index,
)
from qualcontrol.risk.model import CERTAINTY, LEAST_BAD_VERDICTS

POSTERIOR = posteriors(1 / 6)
OVER = exclusions(POSTERIOR)


def test_before_the_first_verdict_the_careless_are_as_many_as_they_are():
    assert POSTERIOR[0, 0, -1] == pytest.approx(1 / 6)


def test_nobody_is_excluded_on_few_bad_verdicts_or_little_certainty():
    assert not OVER[:, :LEAST_BAD_VERDICTS].any()
    assert POSTERIOR[OVER][:, -1].min() >= CERTAINTY


@pytest.mark.parametrize("index", [best_index(POSTERIOR, OVER), run_index(POSTERIOR)])
def test_good_verdicts_make_a_further_check_worth_less_and_bad_ones_more(index):
    assert np.all(np.diff(index[:8, 0]) <= 0)
    assert index[2, 0] < index[2, 1] < index[2, 2]


def test_either_index_finds_the_careless_in_fewer_checks_than_going_in_turn():
    best, run, turns = (
        median(find(index, OVER, 120, 20, 19, seed) for seed in range(9))
        for index in (best_index(POSTERIOR, OVER), run_index(POSTERIOR), in_turn())
    )

    assert 3 * 19 < best < turns
    assert 3 * 19 < run < turns
