"""Agreement on sets, compared with a package that computes alpha for single values."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from annotate.kinds.correspondence.agreement import (
    alpha,
    distance,
    mean_overlaps,
    overlap,
    units,
)
from tests.annotate.kinds.correspondence.linked_words import BOXES, WORDS

VALUES = BOXES.map(frozenset)


@given(WORDS, WORDS)
def test_overlap_is_a_symmetric_share(one, other):
    assert 0 <= overlap(one, other) == overlap(other, one) <= 1


@given(WORDS)
def test_an_answer_overlaps_with_itself_entirely(words):
    assert overlap(words, words) == 1


def test_overlap_counts_links_and_kinds():
    one = {"1": [1, 2], "2": "scene", "3": "not-visual"}
    other = {"1": [1], "2": "scene"}

    assert overlap(one, other) == pytest.approx(2 * 2 / (3 + 2))


def test_answers_with_nothing_in_common_do_not_overlap():
    assert overlap({"1": [1]}, {"1": [2], "2": [1]}) == 0


def test_the_mean_overlap_of_a_stranger_is_low_and_that_of_the_others_is_not():
    same = {"1": [1], "2": [2]}

    shares = mean_overlaps({10: same, 11: same, 12: {"1": [3], "2": [4]}})

    assert shares == {10: 0.5, 11: 0.5, 12: 0.0}


def test_a_single_answer_has_nobody_to_agree_with():
    assert mean_overlaps({10: {"1": [1]}}) == {}


@given(VALUES, VALUES, VALUES)
def test_the_distance_of_sets_is_a_metric(a, b, c):
    assert distance(a, b) == distance(b, a)
    assert (distance(a, b) == 0) == (a == b)
    assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-9


@given(st.lists(st.lists(VALUES, min_size=2, max_size=4), min_size=2, max_size=12))
def test_alpha_is_that_of_the_krippendorff_package(words):
    domain = sorted({value for unit in words for value in unit}, key=sorted)
    assume(len(domain) > 1)
    apart = np.array([[distance(a, b) for b in domain] for a in domain])
    counts = np.array([[unit.count(value) for value in domain] for unit in words])

    ours = alpha(words)

    theirs = krippendorff.alpha(
        value_counts=counts,
        value_domain=list(range(len(domain))),
        level_of_measurement=lambda v1, v2, i1, i2, n_v, dtype=None: apart[i1, i2],
    )
    assert ours == pytest.approx(theirs)


def test_alpha_is_one_when_all_agree_and_nothing_when_there_is_one_value():
    one, two = frozenset({1}), frozenset({2})

    assert alpha([[one, one], [two, two]]) == 1
    assert alpha([[one, one], [one, one]]) is None
    assert alpha([[one], [two]]) is None


def test_a_word_that_a_worker_passed_over_is_one_that_cannot_be_seen():
    assert list(units([{"2": [1]}, {}])) == [[frozenset({1}), frozenset({"not-visual"})]]
