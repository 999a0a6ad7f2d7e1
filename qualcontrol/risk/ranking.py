"""Rank responses for review by the expected value of checking them.

An exclusion needs a run of bad verdicts. The expected value of checking a worker's responses is the
number of bad responses that the exclusion would remove, times the probability that a run of bad
verdicts leads to it, divided by the expected number of checks until it does or a good verdict ends
the run. Of each worker's responses, the ranking offers the one whose verdict says most about
whether the worker's bad share is above the limit. Plain Python with NumPy.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from qualcontrol.risk.hypotheses import SHARE, Array
from qualcontrol.risk.model import Crowd

# The longest run of bad verdicts that is considered.
LONGEST_RUN = 6
# The number of future responses that an exclusion is assumed to prevent.
TO_COME = 40
# Probabilities are kept this far from 0 and 1, so that their ratios are finite.
LEAST_CHANCE = 1e-9


@dataclass(frozen=True)
class Pick:
    """The next check: any response of this worker in this block with these flags. `chance_bad` is
    the probability that it is bad, `expected_value` in bad responses removed per check."""

    worker: int
    block: int
    codes: tuple[str, ...]
    chance_bad: float
    expected_value: float


@dataclass(frozen=True)
class _BestCheck:
    """The group that a worker's next check should be from, the probability that its responses are
    bad, and the check's expected value."""

    group: int
    chance: float
    expected_value: float


NOTHING_LEFT = _BestCheck(-1, 0.0, -1.0)


class CheckRanking:
    """Gives out a crowd's checks, the most useful first.

    A check that was given out counts as if it already had its more probable verdict, so that the
    next checks go to other workers.
    """

    def __init__(self, crowd: Crowd, *, excluded: Collection[int] = ()) -> None:
        self.crowd = crowd
        self.posterior = list(crowd.posterior)
        self.left = np.array([float(group.unjudged) for group in crowd.groups])
        self.bad = crowd.judged_bad.copy()
        self.excluded = {crowd.row[worker] for worker in excluded if worker in crowd.row}
        starts = np.flatnonzero(np.diff(crowd.rows)) + 1
        self.groups_of = np.split(np.arange(len(crowd.groups)), starts)
        self.best = [self._best_of(row) for row in range(len(crowd.workers))]

    def expected_value(self, worker: int) -> float:
        """The expected value of the worker's best next check; negative if none is left."""
        return self.best[self.crowd.row[worker]].expected_value

    def take(self) -> Pick | None:
        """Give out the check with the highest expected value; return None if none is left."""
        best = max(self.best, key=lambda best: best.expected_value, default=NOTHING_LEFT)
        if best is NOTHING_LEFT:
            return None
        self._give_out(best)
        group = self.crowd.groups[best.group]
        return Pick(group.worker, group.block, group.codes, best.chance, best.expected_value)

    def _give_out(self, best: _BestCheck) -> None:
        row, is_bad = int(self.crowd.rows[best.group]), best.chance > 0.5
        self.left[best.group] -= 1
        self.bad[row] += is_bad
        self.posterior[row] = self._after(self.posterior[row], best.group, is_bad=is_bad)
        self.best[row] = self._best_of(row)

    def _best_of(self, row: int) -> _BestCheck:
        """The worker's check whose verdict says most about whether the bad share is above the
        limit.

        This is not always the response most likely to be bad, because rare flags also mark the
        slips of good workers. If the risk is already high enough for an exclusion, only bad
        verdicts are missing, and the response most likely to be bad is best.
        """
        groups = self.groups_of[row]
        groups = groups[self.left[groups] > 0]
        if row in self.excluded or not len(groups):
            return NOTHING_LEFT
        over = self.posterior[row] * self.crowd.chance_over_limit[row]
        risk = float(over.sum())
        bad_and_over = self.crowd.chances_of(over, groups)
        bad_and_under = self.crowd.chances_of(self.posterior[row] - over, groups)
        chances = scores = bad_and_over + bad_and_under
        if risk < self.crowd.certainty:
            scores = divergence(
                bad_and_over / max(risk, LEAST_CHANCE),
                bad_and_under / max(1 - risk, LEAST_CHANCE),
            )
        best = int(np.argmax(scores))
        group = int(groups[best])
        return _BestCheck(group, float(chances[best]), self._value_of_run(row, group))

    def _value_of_run(self, row: int, group: int) -> float:
        """The expected number of bad responses removed by a run of bad verdicts on responses like
        this group's, divided by its expected number of checks; 0 if the rule excludes the worker
        already."""
        posterior, bad = self.posterior[row], self.bad[row]
        over = self.crowd.chance_over_limit[row]
        if self.crowd.is_excludable(float(np.vdot(posterior, over)), bad):
            return 0.0
        chance_bad = self._chance_bad(posterior, group)
        reached, checks = 1.0, 0.0
        for _ in range(LONGEST_RUN):
            checks += reached
            after = posterior * chance_bad
            chance = float(after.sum())
            reached, posterior, bad = reached * chance, after / chance, bad + 1
            if self.crowd.is_excludable(float(np.vdot(posterior, over)), bad):
                break
        share = float(np.sum(posterior * SHARE))
        written = float(self.left[self.groups_of[row]].sum()) + TO_COME
        return reached * share * written / checks

    def _chance_bad(self, posterior: Array, group: int) -> Array:
        """The probability under each hypothesis that a response of the group is bad, [start,
        pattern, level]."""
        grades = self.crowd.grades[group]
        bad = self.crowd.chances.bad[np.arange(len(grades)), grades]
        chances = np.repeat(bad[None], len(posterior), axis=0)
        chances[self.crowd.blocks[group] + 1 :] = self.crowd.chances.bad_before[grades[0]]
        return chances

    def _after(self, posterior: Array, group: int, *, is_bad: bool) -> Array:
        """The posterior after a verdict on a response of the group."""
        chances = self._chance_bad(posterior, group)
        updated = posterior * (chances if is_bad else 1 - chances)
        updated /= updated.sum()
        return updated


def divergence(chances: Array, others: Array) -> Array:
    """The Kullback-Leibler divergence of verdicts that are bad with probability `chances` from
    verdicts that are bad with probability `others`.

    This is the average information of a check if `chances` is true. The larger it is, the fewer
    checks a sequential test takes (Chernoff 1959).
    """
    chances, others = np.clip([chances, others], LEAST_CHANCE, 1 - LEAST_CHANCE)
    good = (1 - chances) * np.log((1 - chances) / (1 - others))
    return chances * np.log(chances / others) + good
