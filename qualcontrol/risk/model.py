"""How likely it is that a worker is careless, from the flags of their responses and the verdicts.

Plain Python with numpy. Bayes' rule weighs the cases of `hypotheses` for each worker; how
usual each flag is, how many workers are careless, and in which manners, is learned from the whole
campaign. Only what is known counts, not the order in which it became known.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qualcontrol.risk.failure_patterns import (
    BELIEVED,
    GRADES,
    OF_SLIPS,
    SLIPS_BY_GRADE,
    Manners,
    code_rates,
)
from qualcontrol.risk.hypotheses import (
    BAD,
    BLOCKS,
    GOOD,
    IS_CARELESS,
    LEVEL_WEIGHT,
    OPEN,
    Array,
    Chances,
    chance_over,
    likely_bad,
    log_evidence,
)

LIMIT = 0.10
CERTAINTY = 0.95
# Nobody is excluded on fewer bad verdicts than these, whatever the flags say.
LEAST_BAD_VERDICTS = 3
# How probable it is that a worker's share of bad responses lies in its interval.
COVERED = 0.90
# Numbers of responses that differ by less are the same but for the rounding of floats.
ROUNDING = 1e-6
# Raised when what is learned changes its form, so that what is kept in the old form is not used.
LEARNED_FORM = 2

# What is believed before a campaign has shown anything, and how many workers' worth of showing it
# takes to move that half-way.
CARELESS_SHARE, CARELESS_WORTH = 0.1, 20
MANNERS_WORTH = 10
# How many careless workers were good at first.
TURNED_SHARE = 0.2
USUAL_WORTH, LEAST_RATE = 50, 1e-3
SLIPS_WORTH = 20
# A worker's responses count for so many at most when it is learned how usual a flag is.
VOICE = 200
ROUNDS = 4
# Workers that are weighed at a time: what fits a processor's cache.
TOGETHER = 16


class Group(NamedTuple):
    """Responses of one worker, of one block of their work, with the same flags (sorted codes)."""

    worker: int
    block: int
    codes: tuple[str, ...]
    unjudged: int = 0
    good: int = 0
    bad: int = 0


@dataclass(frozen=True)
class Figure:
    """What is believed of a worker: `risk`, the probability that more than the limit of their
    responses is bad, and `share`, the expected share, with the ends of its interval of 90 %
    probability."""

    worker: int
    risk: float
    share: float
    low: float
    high: float
    responses: int
    judged_good: int
    judged_bad: int


class Crowd:
    """Workers of a campaign with all that is known of them; made by `fit`.

    Arrays over workers are in the order of `workers`, those over groups in that of `groups`.
    `posterior` has for each worker how probable each case is, [since, manner, level].
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
        self.manners = Manners(rates)
        self.workers = sorted({group.worker for group in self.groups})
        self.row = {worker: row for row, worker in enumerate(self.workers)}
        self.rows = np.array([self.row[group.worker] for group in self.groups], dtype=int)
        self.blocks = np.array([group.block for group in self.groups], dtype=int)
        grades = [self.manners.grades(group.codes) for group in self.groups]
        self.grades = np.array(grades, dtype=int).reshape(-1, len(self.manners.names))
        numbers = [(group.unjudged, group.good, group.bad) for group in self.groups]
        self.numbers = np.array(numbers, dtype=float).reshape(-1, 3)
        self.tally = self._tally()
        self.careless_share = CARELESS_SHARE
        self.manner_share = self.manners.shares(BELIEVED)
        self.usual = self._usual_rates(np.zeros(len(self.groups)))
        self.slips = SLIPS_BY_GRADE

    def learn(self) -> None:
        """Learn how usual the flags and manners are from the weighed cases, and weigh these anew,
        in turn."""
        for _ in range(ROUNDS - 1):
            self.weigh()
            self._learn_manners()
            self.usual = self._usual_rates(self.chances_bad())
            self.slips = self._slips()
        self.weigh()

    @property
    def learned(self) -> dict[str, Any]:
        """What was learned from the campaign as a whole, to weigh some of its workers by."""
        return {
            "form": LEARNED_FORM,
            "rates": self.manners.rates,
            "usual": self.usual.tolist(),
            "slips": self.slips.tolist(),
            "careless_share": float(self.careless_share),
            "manner_share": self.manner_share.tolist(),
        }

    def recall(self, learned: Mapping[str, Any]) -> None:
        """Take over what was learned from the whole campaign."""
        self.usual = np.array(learned["usual"])
        self.slips = np.array(learned["slips"])
        self.careless_share = learned["careless_share"]
        self.manner_share = np.array(learned["manner_share"])
        self.weigh()

    def weigh(self) -> None:
        """Weigh the cases with what was learned."""
        self.telling = self.manners.telling.copy()
        self.telling[0] = self.usual[0]  # What leaves no trace looks like good work.
        self.chances = Chances.of(self.usual, self.telling, self.manners.slips(self.slips))
        self.posterior = self._weighed(self.tally)

    @cached_property
    def over(self) -> list[Array]:
        """For each worker, the probability in each case that their bad share is over the limit."""
        by_worker: list[Array] = [np.zeros(0)] * len(self.workers)
        for rows, blocks in self._alike:
            over = chance_over(self.tally[rows, :blocks], self.chances, self.limit)
            for row, of_worker in zip(rows, over, strict=True):
                by_worker[row] = of_worker
        return by_worker

    @cached_property
    def risk(self) -> Array:
        """The probability that a worker's bad share is over the limit, [worker]."""
        return self.risk_in(self.posterior)

    @cached_property
    def risk_by_flags(self) -> Array:
        """The same as if nobody had judged any response."""
        unjudged = np.zeros_like(self.tally)
        unjudged[..., OPEN] = self.tally.sum(axis=4)
        return self.risk_in(self._weighed(unjudged))

    def risk_in(self, posterior: list[Array]) -> Array:
        pairs = zip(posterior, self.over, strict=True)
        risks: Array = np.clip([np.vdot(weights, over) for weights, over in pairs], 0, 1)
        return risks

    @cached_property
    def judged_bad(self) -> Array:
        """Bad verdicts, [worker]."""
        numbers: Array = self.tally[:, :, 0, :, BAD].sum(axis=(1, 2))
        return numbers

    def is_over(self, risk: float, bad: float) -> bool:
        """Whether somebody with this risk and so many bad verdicts is to be excluded."""
        return risk >= self.certainty and bad >= LEAST_BAD_VERDICTS

    def should_exclude(self, worker: int) -> bool:
        row = self.row[worker]
        return self.is_over(self.risk[row], self.judged_bad[row])

    def chance_bad(self, worker: int, block: int, codes: tuple[str, ...]) -> float:
        """The probability that a response without a verdict is bad."""
        row, grades = self.row[worker], self.manners.grades(codes)
        since = self.posterior[row][: block + 1].sum(axis=0)
        return float(np.sum(since * self.chances.bad[np.arange(len(grades)), grades]))

    def chances_bad(self) -> Array:
        """The probability that a response without a verdict is bad, [group]."""
        manners = np.arange(len(self.manners.names))
        by_worker = np.zeros((len(self.workers), BLOCKS, len(manners), GRADES))
        for row, posterior in enumerate(self.posterior):
            by_worker[row, : len(posterior)] = chances_in(posterior, self.chances)
        at = (self.rows[:, None], self.blocks[:, None], manners, self.grades)
        chances: Array = by_worker[at].sum(axis=1)
        return chances

    def figure(self, worker: int) -> Figure:
        """What is believed of a worker; `qualcontrol.risk.reasons` says why."""
        row = self.row[worker]
        judged = self.tally[row, :, 0].sum(axis=(0, 1))
        share = self._share(row)
        low, high = self._interval(row)
        return Figure(
            worker=worker,
            risk=float(self.risk[row]),
            share=share,
            # A mean may lie beyond the ends, where few cases are far from all others.
            low=min(low, share),
            high=max(high, share),
            responses=int(judged.sum()),
            judged_good=int(judged[GOOD]),
            judged_bad=int(judged[BAD]),
        )

    def _share(self, row: int) -> float:
        """The share of bad responses that is expected of a worker, judged ones included."""
        groups = np.arange(*np.searchsorted(self.rows, [row, row + 1]))
        bad = self.numbers[groups, BAD].sum()
        bad += self.numbers[groups, OPEN] @ self.chances_of(self.posterior[row], groups)
        return float(min(1.0, bad / self.numbers[groups].sum()))

    def _interval(self, row: int) -> tuple[float, float]:
        """The ends of the interval of a worker's share of bad responses: no less than is judged bad
        and no more than is not judged good. The number of bad responses is a whole one, so the ends
        are rounded outwards to whole responses; for a worker with few, that makes a difference."""
        posterior, judged = self.posterior[row], self.tally[row, :, 0].sum(axis=(0, 1))
        bad = likely_bad(self.tally[row, : len(posterior)], self.chances)
        bad = np.clip(bad, judged[BAD], judged.sum() - judged[GOOD])
        weights = np.repeat(posterior[..., None], bad.shape[-1], axis=-1)
        tail = (1 - COVERED) / 2
        low, high = quantiles(bad.ravel(), weights.ravel(), (tail, 1 - tail))
        low, high = np.floor(low + ROUNDING), np.ceil(high - ROUNDING)
        return float(low / judged.sum()), float(high / judged.sum())

    def chances_of(self, posterior: Array, groups: NDArray[np.int64]) -> Array:
        """The probability that a response without a verdict is bad, for groups of one worker with
        this posterior."""
        by_manner = chances_in(posterior, self.chances)
        grades = self.grades[groups]
        manners = np.arange(grades.shape[1])
        chances: Array = by_manner[self.blocks[groups][:, None], manners, grades].sum(axis=1)
        return chances

    def _tally(self) -> Array:
        tally = np.zeros((len(self.workers), BLOCKS, len(self.manners.names), GRADES, 3))
        manners = np.arange(len(self.manners.names))
        at = (self.rows[:, None], self.blocks[:, None], manners, self.grades)
        np.add.at(tally, at, self.numbers[:, None])
        return tally

    @cached_property
    def _alike(self) -> list[tuple[NDArray[np.int64], int]]:
        """Rows of workers who wrote as many blocks, some at a time, with that number."""
        blocks = np.zeros(len(self.workers), dtype=int)
        np.maximum.at(blocks, self.rows, self.blocks + 1)
        return [
            (rows[start : start + TOGETHER], int(number))
            for number in np.unique(blocks)
            for rows in [np.flatnonzero(blocks == number)]
            for start in range(0, len(rows), TOGETHER)
        ]

    def _weighed(self, tally: Array) -> list[Array]:
        """For each worker how probable each case is, [since, manner, level]."""
        by_worker: list[Array] = [np.zeros(0)] * len(self.workers)
        for rows, blocks in self._alike:
            evidence = log_evidence(tally[rows, :blocks], self.chances, self.usual, self.telling)
            weights = evidence + self._log_prior(blocks)
            weights -= weights.max(axis=(1, 2, 3), keepdims=True)
            np.exp(weights, out=weights)
            weights /= weights.sum(axis=(1, 2, 3), keepdims=True)
            for row, of_worker in zip(rows, weights, strict=True):
                by_worker[row] = of_worker
        return by_worker

    def _log_prior(self, blocks: int) -> Array:
        """How probable each case is before anything is known of a worker who wrote so many blocks,
        as a logarithm, [since, manner, level]. Good workers' slips show in any manner."""
        turned = TURNED_SHARE if blocks > 1 else 0.0
        since = np.full((blocks, 1, 1), turned / max(1, blocks - 1))
        since[0] = 1 - turned
        is_first = np.eye(1, blocks).reshape(blocks, 1, 1)
        careless = self.careless_share * since * self.manner_share[:, None] * IS_CARELESS
        good = (1 - self.careless_share) * is_first * self.manners.shares(OF_SLIPS)[:, None]
        with np.errstate(divide="ignore"):
            prior: Array = np.log(LEVEL_WEIGHT * (careless + good * ~IS_CARELESS))
        return prior

    def _usual_rates(self, chances_bad: Array) -> Array:
        """How many of the good responses show each manner to each grade, [manner, grade]."""
        good = self.numbers[:, OPEN] * (1 - chances_bad) + self.numbers[:, GOOD]
        by_worker = np.bincount(self.rows, good, minlength=len(self.workers))
        voice = good * np.minimum(1, VOICE / np.maximum(by_worker, 1))[self.rows]
        shown = np.stack([voice @ (self.grades == grade) for grade in range(GRADES)], axis=1)
        rates = (shown + self.manners.usual * USUAL_WORTH) / (voice.sum() + USUAL_WORTH)
        usual: Array = np.maximum(rates, LEAST_RATE)
        return usual

    def _slips(self) -> Array:
        """How many of the good workers' judged responses were bad, [grade]."""
        good = np.array([p[..., ~IS_CARELESS].sum() for p in self.posterior])
        judged = np.tensordot(good, self.tally[:, :, 0].sum(axis=1), axes=1)
        checks = judged[:, GOOD] + judged[:, BAD]
        shares: Array = (judged[:, BAD] + SLIPS_BY_GRADE * SLIPS_WORTH) / (checks + SLIPS_WORTH)
        return shares

    def _learn_manners(self) -> None:
        """Learn how many workers are careless, and in which manners, from the weighed cases."""
        weights = [p[..., IS_CARELESS].sum(axis=(0, 2)) for p in self.posterior]
        by_manner = np.sum(weights, axis=0) if weights else np.zeros_like(self.manner_share)
        careless = by_manner.sum()
        self.careless_share = (CARELESS_SHARE * CARELESS_WORTH + careless) / (
            CARELESS_WORTH + len(self.workers)
        )
        self.manner_share = (self.manners.shares(BELIEVED) * MANNERS_WORTH + by_manner) / (
            MANNERS_WORTH + careless
        )


def chances_in(posterior: Array, chances: Chances) -> Array:
    """What each manner adds to the chance that a worker's response of a block is bad if it shows
    the manner to each grade, [block, manner, grade]."""
    since = np.cumsum(posterior, axis=0)
    added: Array = np.einsum("bkh,kgh->bkg", since, chances.bad, optimize=True)
    return added


def quantiles(values: Array, weights: Array, shares: Sequence[float]) -> Array:
    """The values up to which these shares of all weight lie; the least weights, a millionth of
    the greatest, are left out."""
    counts = weights > 1e-6 * weights.max()
    values, weights = values[counts], weights[counts]
    order = np.argsort(values)
    up_to = np.cumsum(weights[order])
    places = np.searchsorted(up_to, np.array(shares) * up_to[-1])
    found: Array = values[order][np.minimum(places, len(order) - 1)]
    return found


def fit(
    groups: Iterable[Group],
    *,
    limit: float = LIMIT,
    certainty: float = CERTAINTY,
    learned: Mapping[str, Any] | None = None,
) -> Crowd:
    """Weigh all that is known of a campaign's workers or, by what was `learned` from the campaign
    before, of some of them."""
    if learned is None:
        crowd = Crowd(groups, limit=limit, certainty=certainty)
        crowd.learn()
    else:
        crowd = Crowd(groups, limit=limit, certainty=certainty, rates=learned["rates"])
        crowd.recall(learned)
    return crowd
