"""Estimate the probability that a worker is careless, from flags and verdicts.

The model is a finite mixture. Each worker follows one of the hypotheses of `hypotheses`, whose
posterior probabilities come from Bayes' rule. A few iterations similar to expectation maximisation,
with prior counts, fit the parameters that all workers share: the flags of good responses, the share
of careless workers, the patterns in which they fail, and the slips of good workers.

A worker's *risk* is the probability that the share of bad responses among those that the worker has
written is above the tolerated share. The order in which responses were judged has no influence.
`reasons` explains it in sentences. Plain Python with NumPy.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpora.wording import counted
from qualcontrol.risk.hypotheses import (
    BAD,
    BLOCK_STARTS,
    BLOCKS,
    CARELESS_PRIOR,
    GOOD,
    GRADES,
    IS_CARELESS,
    LEVEL_WEIGHT,
    OPEN,
    SHOWN,
    SLIP_PRIOR,
    SLIPS_BY_GRADE,
    Array,
    Chances,
    FailurePatterns,
    bad_count_points,
    chance_bad_by_pattern,
    chance_over,
    code_rates,
    log_likelihood,
    quantiles,
)

LIMIT = 0.10
CERTAINTY = 0.95
# The fewest bad verdicts that an exclusion needs, so that flags alone never exclude a worker.
LEAST_BAD_VERDICTS = 3
# The probability of the interval of a worker's share of bad responses.
INTERVAL_PROBABILITY = 0.90
# Numbers of responses that differ by less are equal but for floating-point errors.
ROUNDING = 1e-6
# Increase when the keys of `Crowd.learned` change: values stored in another form are not used.
LEARNED_FORM = 3

# Priors of what is learned. A weight is the number of workers (of responses for the flags and slips
# of good work) that count as much as the prior.
CARELESS_SHARE, CARELESS_PRIOR_WEIGHT = 0.1, 20
PATTERNS_PRIOR_WEIGHT = 10
GRADES_PRIOR_WEIGHT, MIN_RATE = 50, 1e-3
SLIPS_PRIOR_WEIGHT = 20
# The share of careless workers who became careless after their first block.
LATER_SHARE = 0.2
# The most responses that one worker counts for in the flags of good work, so that the habits of a
# busy worker do not become the campaign's.
MAX_EFFECTIVE_RESPONSES = 200
ITERATIONS = 4
# Workers whose posteriors are computed together: as many as fit a processor's cache.
WORKERS_AT_ONCE = 16

# The most flags that a sentence names, and how many times the usual rate a flag must have.
MOST_NAMED = 3
MORE_OFTEN = 2.0
# Of fewer workers, the share of careless ones is what was assumed before any evidence.
FEWEST_WORKERS = 10


class Group(NamedTuple):
    """Numbers of a worker's responses in one block with the same flags (sorted codes)."""

    worker: int
    block: int
    codes: tuple[str, ...]
    unjudged: int = 0
    good: int = 0
    bad: int = 0


@dataclass(frozen=True)
class WorkerEstimate:
    """A worker's risk, share of bad responses, and numbers of responses and verdicts, under the
    names that `WorkerRisk` gives them.

    The share is the expected one, with its 90% interval from `low` to `high`.
    """

    risk: float
    share: float
    low: float
    high: float
    responses: int
    good: int
    bad: int


class Crowd:
    """The workers of a campaign with their posteriors; created by `fit`.

    `workers` and `groups` are sorted. Arrays with an axis [worker] or [group] are in their order;
    `row` maps a worker to the index, and `rows` has the index of each group's worker. After `fit`,
    `posterior` has for each worker the probability of each hypothesis, [start, pattern, level],
    with as many starts as the worker has blocks.
    """

    def __init__(
        self,
        groups: Iterable[Group],
        *,
        limit: float,
        certainty: float,
        rates: Mapping[str, float] | None = None,
    ) -> None:
        self.groups = sorted(groups)
        if rates is None:
            rates = code_rates([(g.codes, g.unjudged + g.good + g.bad) for g in self.groups])
        self.limit = limit
        self.certainty = certainty
        self.patterns = FailurePatterns(rates)
        self.workers = sorted({group.worker for group in self.groups})
        self.row = {worker: row for row, worker in enumerate(self.workers)}
        self.rows = np.array([self.row[group.worker] for group in self.groups], dtype=int)
        self.blocks = np.array([group.block for group in self.groups], dtype=int)
        grades = [self.patterns.grades(group.codes) for group in self.groups]
        self.grades = np.array(grades, dtype=int).reshape(-1, len(self.patterns.names))
        numbers = [(group.unjudged, group.good, group.bad) for group in self.groups]
        self.numbers = np.array(numbers, dtype=float).reshape(-1, 3)
        self.tally = self._tally()
        self.careless_share = CARELESS_SHARE
        self.pattern_share = self.patterns.shares(CARELESS_PRIOR)
        self.if_good = self._grades_if_good(np.zeros(len(self.groups)))
        self.slips = SLIPS_BY_GRADE

    def learn(self) -> None:
        """Fit the shared parameters: compute posteriors and parameters in turn."""
        for _ in range(ITERATIONS - 1):
            self.update_posterior()
            self._learn_patterns()
            self.if_good = self._grades_if_good(self.chances_bad())
            self.slips = self._slips()
        self.update_posterior()

    @property
    def learned(self) -> dict[str, Any]:
        """The shared parameters as JSON values, for `use_learned`."""
        return {
            "form": LEARNED_FORM,
            "rates": self.patterns.rates,
            "if_good": self.if_good.tolist(),
            "slips": self.slips.tolist(),
            "careless_share": float(self.careless_share),
            "pattern_share": self.pattern_share.tolist(),
        }

    def use_learned(self, learned: Mapping[str, Any]) -> None:
        """Set the shared parameters to those of another `Crowd`, and update the posteriors."""
        self.if_good = np.array(learned["if_good"])
        self.slips = np.array(learned["slips"])
        self.careless_share = learned["careless_share"]
        self.pattern_share = np.array(learned["pattern_share"])
        self.update_posterior()

    def update_posterior(self) -> None:
        """Set `posterior` from the data and the shared parameters."""
        self.if_shown = self.patterns.if_shown.copy()
        self.if_shown[0] = self.if_good[0]  # Faults without a flag look like good work.
        self.chances = Chances.of(self.if_good, self.if_shown, self.patterns.slips(self.slips))
        self.posterior = self._posteriors(self.tally)

    @cached_property
    def chance_over_limit(self) -> list[Array]:
        """For each worker, the probability under each hypothesis that the worker's bad share is
        above the limit, [start, pattern, level]."""
        by_worker: list[Array] = [np.zeros(0)] * len(self.workers)
        for rows, blocks in self._batches:
            over = chance_over(self.tally[rows, :blocks], self.chances, self.limit)
            for row, of_worker in zip(rows, over, strict=True):
                by_worker[row] = of_worker
        return by_worker

    @cached_property
    def risk(self) -> Array:
        """The probability that a worker's bad share is above the limit, [worker]."""
        return self._risk_in(self.posterior)

    @cached_property
    def risk_by_flags(self) -> Array:
        """The risk if no response had a verdict, [worker]."""
        unjudged = np.zeros_like(self.tally)
        unjudged[..., OPEN] = self.tally.sum(axis=4)
        return self._risk_in(self._posteriors(unjudged))

    def _risk_in(self, posterior: list[Array]) -> Array:
        pairs = zip(posterior, self.chance_over_limit, strict=True)
        risks: Array = np.clip([np.vdot(weights, over) for weights, over in pairs], 0, 1)
        return risks

    @cached_property
    def judged_bad(self) -> Array:
        """Bad verdicts, [worker]."""
        numbers: Array = self.tally[:, :, 0, :, BAD].sum(axis=(1, 2))
        return numbers

    def is_excludable(self, risk: float, bad: float) -> bool:
        """Whether the rule excludes a worker with this risk and number of bad verdicts."""
        return risk >= self.certainty and bad >= LEAST_BAD_VERDICTS

    def chance_bad(self, worker: int, block: int, codes: tuple[str, ...]) -> float:
        """The probability that a response of the worker without a verdict is bad."""
        row, grades = self.row[worker], self.patterns.grades(codes)
        started = self.posterior[row][: block + 1].sum(axis=0)
        return float(np.sum(started * self.chances.bad[np.arange(len(grades)), grades]))

    def chances_bad(self) -> Array:
        """The probability that a response without a verdict is bad, [group]."""
        patterns = np.arange(len(self.patterns.names))
        by_worker = np.zeros((len(self.workers), BLOCKS, len(patterns), GRADES))
        for row, posterior in enumerate(self.posterior):
            by_worker[row, : len(posterior)] = chance_bad_by_pattern(posterior, self.chances)
        at = (self.rows[:, None], self.blocks[:, None], patterns, self.grades)
        chances: Array = by_worker[at].sum(axis=1)
        return chances

    def chances_of(self, posterior: Array, groups: NDArray[np.int64]) -> Array:
        """The probability that a response without a verdict is bad, for these groups of a worker
        with this posterior, [group]. For a part of a posterior it is the part's contribution."""
        by_pattern = chance_bad_by_pattern(posterior, self.chances)
        grades = self.grades[groups]
        patterns = np.arange(grades.shape[1])
        chances: Array = by_pattern[self.blocks[groups][:, None], patterns, grades].sum(axis=1)
        return chances

    def estimate(self, worker: int) -> WorkerEstimate:
        """The worker's risk and share; `reasons` explains the risk."""
        row = self.row[worker]
        judged = self.tally[row, :, 0].sum(axis=(0, 1))
        share = self._share(row)
        low, high = self._interval(row)
        return WorkerEstimate(
            risk=float(self.risk[row]),
            share=share,
            # A mean can be outside the interval if a few improbable hypotheses are far away.
            low=min(low, share),
            high=max(high, share),
            responses=int(judged.sum()),
            good=int(judged[GOOD]),
            bad=int(judged[BAD]),
        )

    def _share(self, row: int) -> float:
        """The expected share of bad responses, judged ones included."""
        groups = np.arange(*np.searchsorted(self.rows, [row, row + 1]))
        bad = self.numbers[groups, BAD].sum()
        bad += self.numbers[groups, OPEN] @ self.chances_of(self.posterior[row], groups)
        return float(min(1.0, bad / self.numbers[groups].sum()))

    def _interval(self, row: int) -> tuple[float, float]:
        """The ends of the interval of the share of bad responses. They lie between the share judged
        bad and the share not judged good. The number of bad responses is an integer, so the ends
        are rounded outwards to whole responses, which matters for workers with few."""
        posterior, judged = self.posterior[row], self.tally[row, :, 0].sum(axis=(0, 1))
        bad = bad_count_points(self.tally[row, : len(posterior)], self.chances)
        bad = np.clip(bad, judged[BAD], judged.sum() - judged[GOOD])
        weights = np.repeat(posterior[..., None], bad.shape[-1], axis=-1)
        tail = (1 - INTERVAL_PROBABILITY) / 2
        low, high = quantiles(bad.ravel(), weights.ravel(), (tail, 1 - tail))
        low, high = np.floor(low + ROUNDING), np.ceil(high - ROUNDING)
        return float(low / judged.sum()), float(high / judged.sum())

    def _tally(self) -> Array:
        tally = np.zeros((len(self.workers), BLOCKS, len(self.patterns.names), GRADES, 3))
        patterns = np.arange(len(self.patterns.names))
        at = (self.rows[:, None], self.blocks[:, None], patterns, self.grades)
        np.add.at(tally, at, self.numbers[:, None])
        return tally

    @cached_property
    def _batches(self) -> list[tuple[NDArray[np.int64], int]]:
        """Batches of rows of workers with the same number of blocks, with that number."""
        blocks = np.zeros(len(self.workers), dtype=int)
        np.maximum.at(blocks, self.rows, self.blocks + 1)
        return [
            (rows[start : start + WORKERS_AT_ONCE], int(number))
            for number in np.unique(blocks)
            for rows in [np.flatnonzero(blocks == number)]
            for start in range(0, len(rows), WORKERS_AT_ONCE)
        ]

    def _posteriors(self, tally: Array) -> list[Array]:
        """For each worker the probability of each hypothesis, [start, pattern, level]."""
        by_worker: list[Array] = [np.zeros(0)] * len(self.workers)
        for rows, blocks in self._batches:
            weights = log_likelihood(
                tally[rows, :blocks], self.chances, self.if_good, self.if_shown
            )
            weights += self._log_prior(blocks)
            weights -= weights.max(axis=(1, 2, 3), keepdims=True)
            np.exp(weights, out=weights)
            weights /= weights.sum(axis=(1, 2, 3), keepdims=True)
            for row, of_worker in zip(rows, weights, strict=True):
                by_worker[row] = of_worker
        return by_worker

    def _log_prior(self, blocks: int) -> Array:
        """The log prior of each hypothesis, [start, pattern, level], for a worker with this number
        of blocks. Good workers have one start only, the first."""
        later = LATER_SHARE if blocks > 1 else 0.0
        start = np.full((blocks, 1, 1), later / max(1, blocks - 1))
        start[0] = 1 - later
        is_first = np.eye(1, blocks).reshape(blocks, 1, 1)
        careless = self.careless_share * start * self.pattern_share[:, None] * IS_CARELESS
        good = (1 - self.careless_share) * is_first * self.patterns.shares(SLIP_PRIOR)[:, None]
        with np.errstate(divide="ignore"):
            prior: Array = np.log(LEVEL_WEIGHT * (careless + good * ~IS_CARELESS))
        return prior

    def _grades_if_good(self, chances_bad: Array) -> Array:
        """The shares of the grades among good responses, [pattern, grade]. A response without a
        verdict counts with the probability that it is good."""
        good = self.numbers[:, OPEN] * (1 - chances_bad) + self.numbers[:, GOOD]
        by_worker = np.bincount(self.rows, good, minlength=len(self.workers))
        weights = (
            good * np.minimum(1, MAX_EFFECTIVE_RESPONSES / np.maximum(by_worker, 1))[self.rows]
        )
        shown = np.stack([weights @ (self.grades == grade) for grade in range(GRADES)], axis=1)
        rates = (shown + self.patterns.if_good * GRADES_PRIOR_WEIGHT) / (
            weights.sum() + GRADES_PRIOR_WEIGHT
        )
        at_least: Array = np.maximum(rates, MIN_RATE)
        return at_least

    def _slips(self) -> Array:
        """The share of good workers' judged responses that are bad, [grade of any flags]."""
        good = np.array([p[..., ~IS_CARELESS].sum() for p in self.posterior])
        judged = np.tensordot(good, self.tally[:, :, 0].sum(axis=1), axes=1)
        checks = judged[:, GOOD] + judged[:, BAD]
        shares: Array = (judged[:, BAD] + SLIPS_BY_GRADE * SLIPS_PRIOR_WEIGHT) / (
            checks + SLIPS_PRIOR_WEIGHT
        )
        return shares

    def _learn_patterns(self) -> None:
        """Set the share of careless workers, and the share of each pattern among them."""
        weights = [p[..., IS_CARELESS].sum(axis=(0, 2)) for p in self.posterior]
        by_pattern = np.sum(weights, axis=0) if weights else np.zeros_like(self.pattern_share)
        careless = by_pattern.sum()
        self.careless_share = (CARELESS_SHARE * CARELESS_PRIOR_WEIGHT + careless) / (
            CARELESS_PRIOR_WEIGHT + len(self.workers)
        )
        prior = self.patterns.shares(CARELESS_PRIOR) * PATTERNS_PRIOR_WEIGHT
        self.pattern_share = (prior + by_pattern) / (PATTERNS_PRIOR_WEIGHT + careless)


def fit(
    groups: Iterable[Group],
    *,
    limit: float = LIMIT,
    certainty: float = CERTAINTY,
    learned: Mapping[str, Any] | None = None,
) -> Crowd:
    """Compute the posteriors of these workers. Without `learned`, the groups are the whole
    campaign, and the shared parameters are fitted to them."""
    if learned is None:
        crowd = Crowd(groups, limit=limit, certainty=certainty)
        crowd.learn()
    else:
        crowd = Crowd(groups, limit=limit, certainty=certainty, rates=learned["rates"])
        crowd.use_learned(learned)
    return crowd


@dataclass(frozen=True)
class Reason:
    """A piece of evidence, and by how much it changes the log odds that the worker's bad share is
    above the tolerated share."""

    sentence: str
    effect: float


def reasons(crowd: Crowd, worker: int, label_of: Callable[[str], str]) -> Iterator[Reason]:
    """The reasons for the worker's risk; their effects add up to its log odds. `label_of` returns
    what pages call the flag with a code."""
    row = crowd.row[worker]
    start, by_flags = 0.0, log_odds(crowd.risk_by_flags[row])
    if len(crowd.workers) >= FEWEST_WORKERS:
        start = log_odds(crowd.careless_share)
        share = f"{crowd.careless_share:.0%} of this campaign's workers"
        yield Reason(f"About {share} appear to be careless.", start)
    yield Reason(_flags_sentence(crowd, row, label_of), by_flags - start)
    judged = crowd.tally[row, :, 0].sum(axis=(0, 1))
    if judged[GOOD] + judged[BAD]:
        sentence = f"Verdicts: {int(judged[BAD])} bad, {int(judged[GOOD])} good."
        effect = log_odds(crowd.risk[row]) - by_flags
        yield Reason(sentence + _turn_sentence(crowd.posterior[row]), effect)


def _flags_sentence(crowd: Crowd, row: int, label_of: Callable[[str], str]) -> str:
    """A sentence about the flags that the worker has much more often than usual."""
    shown = crowd.tally[row].sum(axis=(0, 3))[:, SHOWN]
    written = crowd.tally[row, :, 0].sum()
    responses = counted(int(written), "response")
    often = []
    for code in crowd.patterns.rates:
        pattern = crowd.patterns.names.index(code)
        usual = crowd.if_good[pattern, SHOWN]
        if shown[pattern] > MORE_OFTEN * usual * written + 1:
            surplus = shown[pattern] * np.log(shown[pattern] / (usual * written))
            often.append(
                (surplus, f"“{label_of(code)}” {shown[pattern]:.0f} times (usual: {usual:.1%})")
            )
    if not often:
        return f"No flag is frequent in {responses}."
    named = ", ".join(text for _, text in sorted(often, reverse=True)[:MOST_NAMED])
    return f"Frequent flags in {responses}: {named}."


def _turn_sentence(posterior: Array) -> str:
    """A sentence about the response from which the work became careless.

    Empty if the work probably did not become careless later.
    """
    start = posterior[..., IS_CARELESS].sum(axis=(1, 2))
    if start[1:].sum() <= 0.5:
        return ""
    position = BLOCK_STARTS[int(np.argmax(start[1:])) + 1]
    return f" The work probably became careless around response {position}."


def log_odds(probability: float) -> float:
    bounded = min(max(probability, 1e-6), 1 - 1e-6)
    return float(np.log(bounded / (1 - bounded)))
