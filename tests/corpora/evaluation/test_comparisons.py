"""Rankings from comparisons: known cases, and simulated raters of known bias."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest

from corpora.evaluation.comparisons import (
    Vote,
    best_pair,
    expected_loss,
    ranking,
    strengths,
    wins_of,
)

SEEDS = range(20)
TRUE = np.linspace(1.5, -1.5, 8)
NAMES = list("abcdefgh")
PAIRS = list(combinations(range(8), 2))
EVERY, MOST = 20, 400


def simulated_vote(rng, pair, number):
    """A vote of one of 12 raters: each prefers the left text by its own bias, 0.8 on average, and
    each image favours some sources."""
    one, other = rng.permutation(pair)
    rater, image = int(rng.integers(12)), number % 150
    bias = 0.8 + 0.4 * np.sin(rater)
    effect = 0.3 * (np.sin(image * 8 + one) - np.sin(image * 8 + other))
    utility = TRUE[one] - TRUE[other] + effect + bias + rng.logistic()
    step = 3 - int(np.sign(utility)) * (0 if abs(utility) < 0.3 else 1 if abs(utility) < 1.5 else 2)
    return Vote(image, rater, NAMES[one], NAMES[other], step)


@cache
def simulated(seed, mode):
    """The votes of a campaign, and the share of wrong orders after each EVERY votes."""
    rng = np.random.default_rng(seed)
    votes, wrong, wins = [], [], np.zeros((8, 8))
    for number in range(MOST):
        candidates = rng.permutation(PAIRS).tolist()
        pair = candidates[0]
        if mode == "adaptive":
            compared = [[(one, other)] for one, other in candidates]
            pair = best_pair(candidates, compared, wins[None], np.zeros((8, 8)))
        votes.append(simulated_vote(rng, pair, number))
        wins += wins_of(votes[-1:], NAMES)
        if len(votes) % EVERY == 0:
            found = strengths(wins)
            wrong.append(np.mean([found[above] <= found[below] for above, below in PAIRS]))
    return votes, wrong


def needed(mode, share):
    """The votes after which, on average over the seeds, at most this share of orders is wrong."""
    wrong = np.mean([simulated(seed, mode)[1] for seed in SEEDS], axis=0)
    late = [place for place, value in enumerate(wrong) if value > share]
    return EVERY * (late[-1] + 2 if late else 1)


@pytest.mark.parametrize("share", [0.05, 0.03])
def test_adaptive_pairs_need_fewer_votes_for_the_same_order(share, record_property):
    ratio = needed("adaptive", share) / needed("random", share)

    record_property("ratio", ratio)
    assert needed("random", share) <= MOST
    assert ratio < 0.75, f"adaptive pairs need {ratio:.2f} of the votes"


def expected_strengths(mode_wins):
    """The strengths that votes without noise give, for the same numbers of comparisons."""
    rng = np.random.default_rng(99)
    share = np.zeros((8, 8))
    for pair in PAIRS:
        wins = wins_of([simulated_vote(rng, pair, number) for number in range(4000)], NAMES)
        share += wins / 4000
    games = mode_wins + mode_wins.T
    return strengths(games * share)


@pytest.mark.parametrize("mode", ["adaptive", "random"])
def test_intervals_cover_the_true_order_and_strengths(mode):
    inside, certain_and_wrong = [], 0
    target = expected_strengths(np.ones((8, 8)) * 50)
    for seed in SEEDS:
        votes, _ = simulated(seed, mode)
        found = ranking(votes, NAMES, seed)
        for each in found.ranked:
            inside.append(each.low <= target[NAMES.index(each.source)] <= each.high)
        for (above, below), chance in found.wrong.items():
            is_wrong = found.ranked[above].source > found.ranked[below].source
            certain_and_wrong += is_wrong and chance < 0.025

    assert np.mean(inside) >= 0.9
    assert certain_and_wrong <= 0.025 * len(SEEDS) * len(PAIRS)


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
        (0, 0, 0, 0)
    ] * 3
    assert set(found.wrong.values()) == {0.5}


def test_neighbours_are_compared_and_pending_comparisons_count():
    wins = np.array([[0, 9, 19.0], [6, 0, 14], [1, 6, 0]])
    pending = np.zeros((3, 3))
    far = expected_loss(wins[None], pending)
    pending[0, 1] = pending[1, 0] = 200
    busy = expected_loss(wins[None], pending)

    assert min(far[0, 1], far[1, 2]) < far[0, 2]
    assert far[0, 1] < far[1, 2]
    assert busy[1, 2] < busy[0, 1]
