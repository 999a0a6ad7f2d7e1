"""How many comparisons a ranking needs, if pairs are chosen from the votes so far and if they are
drawn at random, and whether its intervals have the truth.

Raters of known bias compare eight sources of known strength: each prefers the left text by their
own bias, and each image favours some sources. The product's code chooses the pairs and ranks.
"""

import argparse
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from benchmarks.harness import Line, Report, main
from corpora.evaluation.comparisons import Floats, Vote, best_pair, ranking, strengths, wins_of

SEEDS = range(20)
TRUE = np.linspace(1.5, -1.5, 8)
NAMES = list("abcdefgh")
PAIRS = list(combinations(range(len(TRUE)), 2))
RATERS, IMAGES = 12, 150
# Votes of a campaign, and how often the order is looked at.
MOST, EVERY = 400, 20
# Shares of wrong orders of two sources, on average over the seeds, that a ranking has to reach.
SHARES = (0.05, 0.03)
MODES = ("adaptive", "random")


class Campaign(NamedTuple):
    """The votes of a campaign, and the share of wrong orders after each EVERY votes."""

    votes: list[Vote]
    wrong: list[float]


def simulated_vote(rng: np.random.Generator, pair: Sequence[int], number: int) -> Vote:
    """A vote of one of the raters, whose biases are 0.8 on average."""
    one, other = (int(place) for place in rng.permutation(pair))
    rater, image = int(rng.integers(RATERS)), number % IMAGES
    bias = 0.8 + 0.4 * np.sin(rater)
    effect = 0.3 * (np.sin(image * 8 + one) - np.sin(image * 8 + other))
    utility = TRUE[one] - TRUE[other] + effect + bias + rng.logistic()
    step = 3 - int(np.sign(utility)) * (0 if abs(utility) < 0.3 else 1 if abs(utility) < 1.5 else 2)
    return Vote(image, rater, NAMES[one], NAMES[other], step)


@cache
def simulated(seed: int, mode: str) -> Campaign:
    rng = np.random.default_rng(seed)
    campaign, wins = Campaign([], []), np.zeros((len(TRUE), len(TRUE)))
    for number in range(MOST):
        candidates = rng.permutation(PAIRS).tolist()
        pair = candidates[0]
        if mode == "adaptive":
            compared = [[(one, other)] for one, other in candidates]
            pair = best_pair(candidates, compared, wins[None], np.zeros(wins.shape))
        campaign.votes.append(simulated_vote(rng, pair, number))
        wins += wins_of(campaign.votes[-1:], NAMES)
        if len(campaign.votes) % EVERY == 0:
            of = strengths(wins)
            campaign.wrong.append(
                float(np.mean([of[above] <= of[below] for above, below in PAIRS]))
            )
    return campaign


def needed(mode: str, share: float) -> int:
    """The votes after which, on average over the seeds, at most this share of orders is wrong."""
    wrong = np.mean([simulated(seed, mode).wrong for seed in SEEDS], axis=0)
    late = [place for place, value in enumerate(wrong) if value > share]
    return EVERY * (late[-1] + 2 if late else 1)


@cache
def expected_strengths() -> Floats:
    """The strengths that endless votes of these raters give."""
    rng = np.random.default_rng(99)
    each = 4000
    shares = [
        wins_of([simulated_vote(rng, pair, number) for number in range(each)], NAMES) / each
        for pair in PAIRS
    ]
    return strengths(100 * np.sum(shares, axis=0))


class Coverage(NamedTuple):
    """The share of strengths whose interval has the expected one, and the orders of two sources
    that are wrong although their chance to be wrong is below 2.5%, of all orders."""

    inside: float
    certain_and_wrong: int
    orders: int


def coverage(mode: str) -> Coverage:
    expected, inside, certain = expected_strengths(), [], 0
    for seed in SEEDS:
        order = ranking(simulated(seed, mode).votes, NAMES, seed)
        for source in order.ranked:
            assert source.low is not None
            assert source.high is not None
            inside.append(source.low <= expected[NAMES.index(source.source)] <= source.high)
        for (above, below), chance in order.wrong.items():
            is_wrong = order.ranked[above].source > order.ranked[below].source
            certain += is_wrong and chance < 0.025
    return Coverage(float(np.mean(inside)), certain, len(SEEDS) * len(PAIRS))


def measure(_options: argparse.Namespace) -> Report:
    report = Report(database="none")
    for share in SHARES:
        votes = {mode: needed(mode, share) for mode in MODES}
        ratio = votes["adaptive"] / votes["random"]
        what = f"votes until {share:.0%} of orders are wrong"
        drawn = f"{votes['random']} of random pairs"
        report.lines.append(Line(what, f"{votes['adaptive']}", drawn, ratio, 0.75))
        report.figures[f"votes_until_{share}"] = votes
    for mode in MODES:
        covered = coverage(mode)
        report.lines += [
            Line(f"intervals with the truth, {mode}", f"{covered.inside:.1%}", "95%"),
            Line(
                f"certain and wrong orders, {mode}",
                f"{covered.certain_and_wrong}",
                f"{covered.orders} orders",
            ),
        ]
        report.figures[f"coverage_{mode}"] = covered._asdict()
    return report


if __name__ == "__main__":
    main(measure, name="comparisons", description=__doc__)
