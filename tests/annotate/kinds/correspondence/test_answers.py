"""Fields of word–box links; and agreement on sets, compared with a package that computes alpha for
single values."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from annotate.kinds.correspondence.answers import (
    WordKind,
    alpha,
    as_value,
    distance,
    kinds,
    links,
    mean_overlaps,
    overlap,
    parse,
    units,
)
from tests.annotate.kinds.correspondence.linked_words import BOXES, WORDS

REFERENTS = st.one_of(
    st.sampled_from([kind.value for kind in WordKind]),
    st.lists(st.integers(0, 10**12), min_size=1, unique=True).map(sorted),
)

VALUES = BOXES.map(frozenset)


@given(REFERENTS)
def test_a_field_reads_back_as_it_was_written(referent):
    assert parse(as_value(referent)) == referent


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", None),
        ("  ", None),
        ("box:3", [3]),
        (" box:9  box:3 box:9 ", [3, 9]),
        ("scene", "scene"),
    ],
)
def test_fields_that_can_be_read(value, expected):
    assert parse(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        "box:",
        "box:-1",
        "box:1.0",
        "box:٣",
        "3",
        "dog",
        "scene box:1",
        "box:1 scene",
        "box:" + "9" * 30,
    ],
)
def test_a_field_that_says_nothing_known_is_an_error(value):
    with pytest.raises(ValueError, match=r".+"):
        parse(value)


def test_links_and_kinds_share_out_an_answer():
    words = {"1": [4, 7], "3": "scene", "5": [4]}

    assert links(words) == {(1, 4), (1, 7), (5, 4)}
    assert kinds(words) == {3: "scene"}


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
