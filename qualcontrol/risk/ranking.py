"""Which response a reviewer should look at next: the one whose check is worth the most.

Of each worker's responses it is the one whose verdict tells most. A worker is excluded after so
many bad verdicts. A check is worth the bad responses that the exclusion would remove, times the
chance that the verdicts come out so, over the checks that it takes until they do or a good one ends
the run. Plain Python with numpy.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from qualcontrol.risk.hypotheses import SHARE, Array
from qualcontrol.risk.model import Crowd

# Bad verdicts in a row that are thought ahead.
AHEAD = 6
# A worker who is excluded writes no more: so many responses are counted beside those there are.
TO_COME = 40
# Probabilities are kept this far from 0 and 1, where a ratio of them would be without end.
LEAST_CHANCE = 1e-9


@dataclass(frozen=True)
class Pick:
    """A response to check: any one of this worker's, of this block, with these flags."""

    worker: int
    block: int
    codes: tuple[str, ...]
    chance_bad: float
    worth: float


@dataclass(frozen=True)
class Best:
    """Of which group a worker's next check should be, how likely it is bad, and its worth."""

    group: int
    chance: float
    worth: float


NOTHING_LEFT = Best(-1, 0.0, -1.0)


class Queue:
    """The order of a crowd's checks. A check that was given out counts as if the verdict that is
    expected of it was there, so that the next ones go to other workers."""

    def __init__(self, crowd: Crowd, *, barred: Collection[int] = ()) -> None:
        self.crowd = crowd
        self.posterior = list(crowd.posterior)
        self.left = np.array([float(group.unjudged) for group in crowd.groups])
        self.bad = crowd.judged_bad.copy()
        self.barred = {crowd.row[worker] for worker in barred if worker in crowd.row}
        starts = np.flatnonzero(np.diff(crowd.rows)) + 1
        self.groups_of = np.split(np.arange(len(crowd.groups)), starts)
        self.best = [self._best_of(row) for row in range(len(crowd.workers))]

    def worth(self, worker: int) -> float:
        """What the worker's best next check is worth; below zero where none is left."""
        return self.best[self.crowd.row[worker]].worth

    def take(self) -> Pick | None:
        """The response that is worth most; None where none is left."""
        best = max(self.best, key=lambda best: best.worth, default=NOTHING_LEFT)
        if best is NOTHING_LEFT:
            return None
        self._give_out(best)
        found = self.crowd.groups[best.group]
        return Pick(found.worker, found.block, found.codes, best.chance, best.worth)

    def _give_out(self, best: Best) -> None:
        row, is_bad = int(self.crowd.rows[best.group]), best.chance > 0.5
        self.left[best.group] -= 1
        self.bad[row] += is_bad
        self.posterior[row] = self._after(self.posterior[row], best.group, is_bad=is_bad)
        self.best[row] = self._best_of(row)

    def _best_of(self, row: int) -> Best:
        """The worker's response whose verdict tells most of whether they are over the limit. That
        is not the one that is most likely bad: where a rare flag is, good workers slip as well.
        Who is over it already, but on too few bad verdicts, is asked for these alone."""
        groups = self.groups_of[row]
        groups = groups[self.left[groups] > 0]
        if row in self.barred or not len(groups):
            return NOTHING_LEFT
        over = self.posterior[row] * self.crowd.over[row]
        risk = float(over.sum())
        bad_and_over = self.crowd.chances_of(over, groups)
        bad_and_under = self.crowd.chances_of(self.posterior[row] - over, groups)
        chances = wanted = bad_and_over + bad_and_under
        if risk < self.crowd.certainty:
            wanted = divergence(
                bad_and_over / max(risk, LEAST_CHANCE),
                bad_and_under / max(1 - risk, LEAST_CHANCE),
            )
        best = int(np.argmax(wanted))
        group = int(groups[best])
        return Best(group, float(chances[best]), self._worth(row, group))

    def _worth(self, row: int, group: int) -> float:
        """What a run of bad verdicts on such responses would remove, per check."""
        posterior, bad, over = self.posterior[row], self.bad[row], self.crowd.over[row]
        if self.crowd.is_over(float(np.vdot(posterior, over)), bad):
            return 0.0  # To be excluded already.
        chance_by_case = self._case_chances(posterior, group)
        reached, checks = 1.0, 0.0
        for _ in range(AHEAD):
            checks += reached
            after = posterior * chance_by_case
            chance = float(after.sum())
            reached, posterior, bad = reached * chance, after / chance, bad + 1
            if self.crowd.is_over(float(np.vdot(posterior, over)), bad):
                break
        share = float(np.sum(posterior * SHARE))
        written = float(self.left[self.groups_of[row]].sum()) + TO_COME
        return reached * share * written / checks

    def _case_chances(self, posterior: Array, group: int) -> Array:
        """The chance in each case that a response of the group is bad, [since, manner, level]."""
        grades = self.crowd.grades[group]
        bad = self.crowd.chances.bad[np.arange(len(grades)), grades]
        chances = np.repeat(bad[None], len(posterior), axis=0)
        chances[self.crowd.blocks[group] + 1 :] = self.crowd.chances.at_first[grades[0]]
        return chances

    def _after(self, posterior: Array, group: int, *, is_bad: bool) -> Array:
        """The posterior once a response of the group is judged."""
        chances = self._case_chances(posterior, group)
        updated = posterior * (chances if is_bad else 1 - chances)
        updated /= updated.sum()
        return updated


def divergence(chances: Array, others: Array) -> Array:
    """What a verdict tells on average where `chances` of a bad one hold, against that `others` do:
    the divergence of Kullback and Leibler. The greater it is, the fewer checks a sequential test
    takes (Chernoff 1959)."""
    chances, others = np.clip([chances, others], LEAST_CHANCE, 1 - LEAST_CHANCE)
    good = (1 - chances) * np.log((1 - chances) / (1 - others))
    return chances * np.log(chances / others) + good
