"""Rankings from comparisons: known cases, and simulated raters of known bias."""

import numpy as np
import pytest

from benchmarks.comparisons import MODES, MOST, SHARES, coverage, needed
from corpora.evaluation.comparisons import Vote, expected_loss, ranking, strengths


@pytest.mark.parametrize("share", SHARES)
def test_adaptive_pairs_need_fewer_votes_for_the_same_order(share, record_property):
    ratio = needed("adaptive", share) / needed("random", share)

    record_property("ratio", ratio)
    assert needed("random", share) <= MOST
    assert ratio < 0.75, f"adaptive pairs need {ratio:.2f} of the votes"


@pytest.mark.parametrize("mode", MODES)
def test_intervals_cover_the_true_order_and_strengths(mode):
    found = coverage(mode)

    assert found.inside >= 0.9
    assert found.certain_and_wrong <= 0.025 * found.orders


def test_strengths_are_those_of_the_shares_of_wins():
    wins = np.array([[0, 75000.0], [25000, 0]])

    found = strengths(wins)

    assert found[0] - found[1] == pytest.approx(np.log(3), abs=1e-4)
    assert found.sum() == pytest.approx(0, abs=1e-6)


def test_a_source_that_always_wins_has_a_finite_strength_and_ties_are_half_wins():
    always = ranking([Vote(n, n % 3, "a", "b", 1) for n in range(30)], ["a", "b"], seed=1)
    ties = ranking([Vote(n, n % 3, "a", "b", 3) for n in range(30)], ["a", "b"], seed=1)

    assert [each.source for each in always.ranked] == ["a", "b"]
    assert 1 < always.ranked[0].strength < 5
    assert always.wrong == {(0, 1): 0.0}
    assert [each.strength for each in ties.ranked] == [0, 0]
    assert (ties.wrong, ties.ties) == ({(0, 1): 0.5}, 1.0)


def test_the_order_of_a_and_b_does_not_matter():
    votes = [Vote(n, n % 4, "ab"[n % 2], "ba"[n % 2], 1 + n % 5) for n in range(40)]
    turned = [Vote(v.image, v.rater, v.other, v.one, 6 - v.step) for v in votes]

    assert ranking(votes, ["a", "b"], seed=3) == ranking(turned, ["a", "b"], seed=3)


def test_without_votes_nothing_is_known():
    found = ranking([], ["a", "b", "c"], seed=1)

    assert [(each.strength, each.low, each.high, each.votes) for each in found.ranked] == [
        (0, None, None, 0)
    ] * 3
    assert set(found.wrong.values()) == {0.5}


def test_nothing_is_known_of_a_source_without_votes():
    found = ranking([Vote(n, n % 3, "a", "b", 1) for n in range(30)], ["a", "b", "c"], seed=1)

    assert [each.source for each in found.ranked] == ["a", "c", "b"]
    assert all(each.low is None for each in found.ranked)
    assert found.wrong == {(0, 1): 0.5, (0, 2): 0.0, (1, 2): 0.5}


def test_votes_on_a_single_image_give_no_interval_and_leave_the_order_open():
    found = ranking([Vote(1, rater, "a", "b", 1) for rater in range(5)], ["a", "b"], seed=1)

    assert [(each.source, each.low, each.high, each.votes) for each in found.ranked] == [
        ("a", None, None, 5),
        ("b", None, None, 5),
    ]
    assert found.wrong == {(0, 1): 0.5}


def unanimous(one, other):
    return [Vote(image, rater, one, other, 1) for image in range(9) for rater in range(5)]


@pytest.mark.parametrize(
    ("votes", "without"),
    [
        (unanimous("a", "b"), ["a", "b"]),
        (unanimous("a", "b") + unanimous("b", "c") + unanimous("c", "a"), ["a", "b", "c"]),
        ([vote._replace(step=3) for vote in unanimous("a", "b")], ["a", "b"]),
        (unanimous("a", "b")[::4], ["a", "b"]),
        (unanimous("a", "b") + [Vote(n, n % 5, "b", "c", 1 + n % 5) for n in range(9)], ["a"]),
        ([vote._replace(step=1 + vote.image % 5) for vote in unanimous("a", "b")], []),
    ],
    ids=["better", "a circle", "ties", "not each image by each rater", "of one pair", "mixed"],
)
def test_a_source_about_which_all_raters_agree_has_no_interval(votes, without):
    names = sorted({name for vote in votes for name in (vote.one, vote.other)})

    found = ranking(votes, names, seed=1)

    assert sorted(each.source for each in found.ranked if each.low is None) == without
    assert all(each.low < each.high for each in found.ranked if each.low is not None)


def test_the_order_of_sources_about_which_all_raters_agree_is_known():
    assert ranking(unanimous("a", "b"), ["a", "b"], seed=1).wrong == {(0, 1): 0.0}


def test_neighbours_are_compared_and_pending_comparisons_count():
    wins = np.array([[0, 9, 19.0], [6, 0, 14], [1, 6, 0]])
    pending = np.zeros((3, 3))
    far = expected_loss(wins[None], pending)
    pending[0, 1] = pending[1, 0] = 200
    busy = expected_loss(wins[None], pending)

    assert min(far[0, 1], far[1, 2]) < far[0, 2]
    assert far[0, 1] < far[1, 2]
    assert busy[1, 2] < busy[0, 1]
