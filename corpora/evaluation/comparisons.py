"""Rank sources of captions by people's comparisons of two, and choose which two to compare next.

A comparison says which of two sources of captions is better, or that neither is. Strengths are
those of the model of Bradley and Terry (1952, "Rank analysis of incomplete block designs"): source
i is preferred to j with the probability 1 / (1 + exp(strength j - strength i)). A tie is half a win
for each. Strengths are in logits and sum to 0.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpora.evaluation.bootstrap import LEVEL, RESAMPLES

Floats = NDArray[np.float64]
# Precision of a normal prior of each strength, so that a source that always wins has a finite one.
PRIOR = 0.1
# The largest change of a strength in one of Newton's steps, and the number of steps.
LONGEST_STEP, STEPS = 2.0, 30
_ERFC = np.vectorize(math.erfc, otypes=[float])
# Resamples computed at a time, to limit memory.
AT_ONCE = 100


class Vote(NamedTuple):
    """One person's comparison of two sources on an image: 1 if `one` is much better, 3 for a tie, 5
    if `other` is much better."""

    image: int
    rater: int
    one: str
    other: str
    step: int

    @property
    def won(self) -> float:
        """How much of the comparison `one` has won: 1, a half or 0."""
        return ((self.step < 3) - (self.step > 3) + 1) / 2


class Ranked(NamedTuple):
    """A source's strength with its 95% interval, and how many comparisons it was in.

    There is no interval without comparisons or of a single image, nor if the votes agree on how the
    source compares with each other one: they tell nothing of how images and raters differ, and its
    strength depends on the prior.
    """

    source: str
    strength: float
    low: float | None
    high: float | None
    votes: int


class Ranking(NamedTuple):
    """The sources, the strongest first; for each pair of places, from 0, the chance that the
    order of the two is wrong; and the share of ties."""

    ranked: list[Ranked]
    wrong: dict[tuple[int, int], float]
    ties: float


def wins_of(votes: Sequence[Vote], sources: Sequence[str]) -> Floats:
    """How often each source, a row, was preferred to each other one, a column."""
    wins = np.zeros((len(sources), len(sources)))
    for vote in votes:
        one, other = sources.index(vote.one), sources.index(vote.other)
        wins[one, other] += vote.won
        wins[other, one] += 1 - vote.won
    return wins


def strengths(wins: Floats) -> Floats:
    """The sources' strengths from matrices of wins, of shape (..., sources, sources)."""
    estimate = np.zeros(wins.shape[:-1])
    games = wins + np.swapaxes(wins, -1, -2)
    for _ in range(STEPS):
        expected, information = _model(estimate, games)
        slope = (wins - games * expected).sum(-1) - PRIOR * estimate
        step = np.linalg.solve(information, slope[..., None])[..., 0]
        estimate += np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        if np.abs(step).max() < 1e-6:
            break
    return estimate


def _model(estimate: Floats, games: Floats) -> tuple[Floats, Floats]:
    """The probability of each win, and the information about the strengths in these games."""
    expected = 1 / (1 + np.exp(estimate[..., None, :] - estimate[..., :, None]))
    weights = games * expected * (1 - expected)
    diagonal = (weights.sum(-1) + PRIOR)[..., None] * np.eye(estimate.shape[-1])
    return expected, diagonal - weights


def ranking(votes: Sequence[Vote], sources: Sequence[str], seed: int) -> Ranking:
    """Rank the sources; the same seed gives the same intervals.

    Intervals and chances are from a bootstrap that draws images and raters independently, both with
    replacement, and weights a vote by the product. Its intervals are rather too wide than too
    narrow (Owen and Eckles 2012, "Bootstrapping data arrays of arbitrary order").
    """
    wins = wins_of(votes, sources)
    estimated = strengths(wins)
    drawn = _resampled(votes, sources, seed)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    games = (wins + wins.T).sum(axis=1)
    is_known = (games > 0) & (len({vote.image for vote in votes}) > 1)
    disputed = _disputed(votes)
    has_interval = is_known & [source in disputed for source in sources] & ~np.isclose(low, high)
    order = np.argsort(-estimated, kind="stable")
    wrong = {
        (above, below): float(np.mean(_is_below(drawn[:, order[above]], drawn[:, order[below]])))
        if is_known[order[[above, below]]].all()
        else 0.5
        for above, below in combinations(range(len(sources)), 2)
    }
    rows = zip(sources, estimated, low, high, games, has_interval, strict=True)
    by_source = [
        Ranked(
            source,
            float(strength),
            float(least) if is_shown else None,
            float(most) if is_shown else None,
            round(votes_in),
        )
        for source, strength, least, most, votes_in, is_shown in rows
    ]
    ranked = [by_source[place] for place in order]
    ties = sum(vote.step == 3 for vote in votes) / len(votes) if votes else 0.0
    return Ranking(ranked, wrong, ties)


def _disputed(votes: Sequence[Vote]) -> set[str]:
    """The sources that two votes compare differently with the same other source."""
    outcomes = {
        (vote.one, vote.other, vote.won)
        if vote.one < vote.other
        else (vote.other, vote.one, 1 - vote.won)
        for vote in votes
    }
    found = Counter((one, other) for one, other, _ in outcomes)
    return {source for pair, number in found.items() if number > 1 for source in pair}


def _is_below(one: Floats, other: Floats) -> Floats:
    """1 where the first is smaller, and a half where both are the same."""
    return np.asarray((np.sign(other - one) + 1) / 2)


def _resampled(votes: Sequence[Vote], sources: Sequence[str], seed: int) -> Floats:
    """The strengths in each resample, of shape (resamples, sources)."""
    rng = np.random.default_rng(abs(seed))
    size = len(sources)
    won = np.stack([wins_of([vote], sources).ravel() for vote in votes] or [np.zeros(size**2)])
    places = [np.unique([vote[part] for vote in votes], return_inverse=True) for part in (0, 1)]
    resamples = []
    for _ in range(RESAMPLES // AT_ONCE):
        weights = np.ones((AT_ONCE, len(won)))
        for keys, place in places:
            if len(keys):
                equal = np.full(len(keys), 1 / len(keys))
                weights *= rng.multinomial(len(keys), equal, AT_ONCE)[:, place]
        resamples.append(strengths((weights @ won).reshape(AT_ONCE, size, size)))
    return np.concatenate(resamples)


def expected_loss(wins: Floats, pending: Floats) -> Floats:
    """For each pair of sources, what the order would be expected to lose after one more comparison
    of the two: a symmetric matrix, of which the smallest entry is the best next comparison.

    `wins` are matrices of one or several criteria, of shape (criteria, sources, sources), and
    `pending` has the number of comparisons whose outcome is not known yet. A wrong order of two
    sources loses the difference of their strengths; the criterion is the linear loss of Chick and
    Inoue (2001, "New two-stage and sequential procedures for selecting the best simulated system"),
    summed over all pairs. Strengths are taken to be normal around their estimates.
    """
    size = wins.shape[-1]
    pairs = np.array(list(combinations(range(size), 2)))
    contrasts = np.zeros((len(pairs), size))
    contrasts[np.arange(len(pairs)), pairs[:, 0]] = 1
    contrasts[np.arange(len(pairs)), pairs[:, 1]] = -1
    total = np.zeros((size, size))
    for criterion_wins in wins:
        estimate = strengths(criterion_wins)
        expected, information = _model(estimate, criterion_wins + criterion_wins.T + pending)
        spread = contrasts @ np.linalg.inv(information) @ contrasts.T
        weight = (expected * (1 - expected))[pairs[:, 0], pairs[:, 1]]
        # The variances of all differences (columns) after a comparison of each pair (rows).
        gained = weight / (1 + weight * np.diag(spread))
        deviation = np.sqrt(np.diag(spread)[None] - gained[:, None] * spread**2)
        ratio = np.abs(contrasts @ estimate)[None] / deviation
        density = np.exp(-(ratio**2) / 2) / np.sqrt(2 * np.pi)
        loss = deviation * (density - ratio * _ERFC(ratio / np.sqrt(2)) / 2)
        total[pairs[:, 0], pairs[:, 1]] += loss.sum(axis=1)
    return total + total.T


def best_pair(
    candidates: Sequence[Any],
    compared: Sequence[Sequence[tuple[int, int]]],
    wins: Floats,
    pending: Floats,
) -> Any:
    """The candidate whose comparison loses least; the first of several that are as good.

    `compared` has, for each candidate, the pairs of sources that it compares.
    """
    loss = expected_loss(wins, pending)
    least = [min(loss[pair] for pair in pairs) for pairs in compared]
    return candidates[int(np.argmin(np.round(least, 9)))]
