"""A reviewer who is always right, and four ways to choose what they judge. Plain Python.

The product's way is the product's own code: its model, its queue, its floor, its estimate. The
others exclude by the same rule, as far as they can: when the probability that more than the
campaign's limit is bad reaches the campaign's certainty, by a beta distribution of the verdicts.
"""

import random
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, zip_longest
from operator import itemgetter

from scipy.special import betaincc

from benchmarks.crowds import Crowd
from qualcontrol.risk import model as risk
from qualcontrol.risk.estimate import Estimate, estimate_share
from qualcontrol.risk.hypotheses import block_of
from qualcontrol.risk.model import CERTAINTY, LIMIT, Group, fit
from qualcontrol.risk.random_sample import is_required_turn
from qualcontrol.risk.ranking import CheckRanking

# Verdicts between two readings of the queue.
BATCH = 10
# The estimate is compared with the truth each time after so many checks.
MOMENT = 50
# A reviewer stops after so many checks, whoever is left.
MOST_CHECKS = 2_000
# What the other ways believe of a worker's bad share before the first verdict.
PRIOR = (0.5, 4.5)

Codes = Sequence[tuple[str, ...]]


@dataclass
class Desk:
    """The reviewer's desk: captions, verdicts, exclusions, and when what was removed."""

    crowd: Crowd
    seed: int
    verdicts: dict[int, bool] = field(default_factory=dict)  # whether it is bad, by caption
    excluded: dict[int, int] = field(default_factory=dict)  # after how many checks, by worker
    removals: list[tuple[int, str]] = field(default_factory=list)  # checks, manner
    # After how many checks how many captions were kept, and how many of them are bad.
    history: list[tuple[int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.order = list(range(len(self.crowd.captions)))
        random.Random(self.seed).shuffle(self.order)
        self.work: dict[int, list[int]] = defaultdict(list)  # in the random order
        for number in self.order:
            self.work[self.crowd.captions[number].worker].append(number)
        careless = self.crowd.manners
        self.to_remove = sum(c.is_bad and c.worker in careless for c in self.crowd.captions)
        self._note()

    @property
    def checks(self) -> int:
        return len(self.verdicts)

    def judge(self, number: int) -> bool:
        """The verdict on a caption: whether it is bad."""
        is_bad = self.crowd.captions[number].is_bad
        self.verdicts[number] = is_bad
        if is_bad:
            self._remove([number])
        return is_bad

    def exclude(self, worker: int) -> None:
        kept = [number for number in self.work[worker] if self.is_kept(number)]
        self.excluded[worker] = self.checks
        self._remove(kept)

    def _remove(self, numbers: list[int]) -> None:
        captions = [self.crowd.captions[number] for number in numbers]
        self.removals += [
            (self.checks, self.crowd.manners[caption.worker])
            for caption in captions
            if caption.is_bad and caption.worker in self.crowd.manners
        ]
        self._note(kept=-len(captions), bad=-sum(caption.is_bad for caption in captions))

    def _note(self, *, kept: int = 0, bad: int = 0) -> None:
        if self.history:
            _, kept_before, bad_before = self.history[-1]
        else:
            kept_before = len(self.crowd.captions)
            bad_before = sum(caption.is_bad for caption in self.crowd.captions)
        self.history.append((self.checks, kept_before + kept, bad_before + bad))

    def share_left(self, checks: int) -> float:
        """The share of bad captions among those kept after so many checks."""
        at = bisect_right(self.history, checks, key=itemgetter(0))
        _, kept, bad = self.history[at - 1]
        return bad / max(1, kept)

    def is_kept(self, number: int) -> bool:
        worker = self.crowd.captions[number].worker
        return worker not in self.excluded and not self.verdicts.get(number, False)

    @property
    def is_done(self) -> bool:
        """Whether 95 % of the careless are excluded, and 95 % of their bad captions removed."""
        careless = self.crowd.manners
        found = sum(worker in careless for worker in self.excluded)
        return found >= 0.95 * len(careless) and len(self.removals) >= 0.95 * self.to_remove


@dataclass(frozen=True)
class Moment:
    """What the product said after so many checks: its estimate beside the true share of bad
    captions, and each worker's interval: whether the worker is careless, and whether it holds
    their true share."""

    checks: int
    truth: float
    estimate: Estimate
    intervals: list[tuple[bool, bool]]


def check_by_worth(
    desk: Desk, codes: Codes, *, least: int = 0, most: int = MOST_CHECKS
) -> list[Moment]:
    """Check what the product's queue gives until the desk is done, at least and at most so many
    captions; what it said each MOMENT checks, and before the first."""
    groups = _Groups(desk, codes)
    random_sample = (
        number for number in desk.order if number not in desk.verdicts and desk.is_kept(number)
    )
    moments: list[Moment] = []
    while desk.checks < most and not (desk.is_done and desk.checks >= least):
        weighed = fit(groups.counted())
        for worker in weighed.workers:
            if worker not in desk.excluded and weighed.should_exclude(worker):
                desk.exclude(worker)
        if desk.checks % MOMENT == 0:
            intervals = _intervals(desk, weighed)
            moments.append(Moment(desk.checks, true_share(desk), estimate(desk), intervals))
        ranking = CheckRanking(weighed, excluded=desk.excluded)
        for _ in range(BATCH):
            number = (
                next(random_sample, None) if is_required_turn(desk.checks) else groups.take(ranking)
            )
            if number is None:
                return moments
            groups.count(number, is_bad=desk.judge(number))
    return moments


def _intervals(desk: Desk, weighed: risk.Crowd) -> list[tuple[bool, bool]]:
    """Of each worker, whether they are careless, and whether the interval holds their share."""
    found = []
    for worker, work in desk.work.items():
        share = sum(desk.crowd.captions[number].is_bad for number in work) / len(work)
        estimate = weighed.estimate(worker)
        is_held = estimate.low - 1e-9 <= share <= estimate.high + 1e-9
        found.append((worker in desk.crowd.manners, is_held))
    return found


class _Groups:
    """The captions as the model sees them: by worker, block and flags."""

    def __init__(self, desk: Desk, codes: Codes) -> None:
        self.desk = desk
        written: Counter[int] = Counter()
        self.key_of = []
        for caption, found in zip(desk.crowd.captions, codes, strict=True):
            self.key_of.append((caption.worker, block_of(written[caption.worker]), found))
            written[caption.worker] += 1
        self.members = defaultdict(list)
        for number in reversed(desk.order):
            self.members[self.key_of[number]].append(number)
        self.numbers = {key: [len(numbers), 0, 0] for key, numbers in self.members.items()}
        for number, is_bad in desk.verdicts.items():
            self.count(number, is_bad=is_bad)

    def counted(self) -> Iterator[Group]:
        for (worker, block, codes), numbers in self.numbers.items():
            yield Group(worker, block, codes, *numbers)

    def take(self, ranking: CheckRanking) -> int | None:
        """The next caption of the queue that has no verdict."""
        while (pick := ranking.take()) is not None:
            members = self.members[pick.worker, pick.block, pick.codes]
            while members:
                number = members.pop()
                if number not in self.desk.verdicts:
                    return number
        return None

    def count(self, number: int, *, is_bad: bool) -> None:
        numbers = self.numbers[self.key_of[number]]
        numbers[0] -= 1
        numbers[2 if is_bad else 1] += 1


def check_at_random(desk: Desk, *, least: int = 0) -> None:
    """Check captions in random order until the desk is done, at least so many."""
    _check_in_order(desk, iter(desk.order), least)


def check_round_robin(desk: Desk, *, least: int = 0) -> None:
    """Check one caption of each worker in turn, at random among theirs."""
    _check_in_order(desk, _in_turn(desk.work.values()), least)


def check_latest(desk: Desk, *, least: int = 0) -> None:
    """Check one caption of each worker in turn, the latest first."""
    latest = _in_turn(sorted(work, reverse=True) for work in desk.work.values())
    _check_in_order(desk, latest, least)


def _in_turn(piles: Iterable[list[int]]) -> Iterator[int]:
    rounds = chain.from_iterable(zip_longest(*piles))
    return (number for number in rounds if number is not None)


def _check_in_order(desk: Desk, order: Iterator[int], least: int) -> None:
    found: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for number in order:
        worker = desk.crowd.captions[number].worker
        if worker in desk.excluded:
            continue
        verdicts = found[worker]
        verdicts[desk.judge(number)] += 1
        if is_over(*verdicts):
            desk.exclude(worker)
        if desk.checks >= least and desk.is_done:
            return


@cache
def is_over(good: int, bad: int) -> bool:
    """Whether a beta distribution says with enough certainty that the share is over the limit."""
    return bool(betaincc(PRIOR[0] + bad, PRIOR[1] + good, LIMIT) >= CERTAINTY)


def estimate(desk: Desk) -> Estimate:
    """The product's estimate at this moment."""
    kept_workers = [w for w in desk.work if w not in desk.excluded]
    written = sum(len(desk.work[worker]) for worker in kept_workers)
    removed = sum(
        is_bad and desk.crowd.captions[number].worker not in desk.excluded
        for number, is_bad in desk.verdicts.items()
    )
    sample = list(_sample(desk))
    bad = sum(sample)
    return estimate_share(good=len(sample) - bad, bad=bad, kept=written - removed, removed=removed)


def _sample(desk: Desk) -> Iterator[bool]:
    """The verdicts of the random sample: in the random order up to the first without one."""
    for number in desk.order:
        if desk.crowd.captions[number].worker in desk.excluded:
            continue
        if number not in desk.verdicts:
            return
        yield desk.verdicts[number]


def true_share(desk: Desk) -> float:
    kept = [number for number in desk.order if desk.is_kept(number)]
    return sum(desk.crowd.captions[number].is_bad for number in kept) / max(1, len(kept))
