"""A simulated review: a reviewer who is always right, and three strategies to choose the checks.

The product's strategy runs the product's own code: its risk model, ranking, required checks and
estimate. The other strategies use the same exclusion rule with a beta distribution of each worker's
verdicts instead of the risk model. Plain Python.
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
from qualcontrol.risk.estimate import Estimate, Sampled, estimate_share, is_required_turn
from qualcontrol.risk.hypotheses import block_of
from qualcontrol.risk.model import CERTAINTY, LIMIT, Group, fit
from qualcontrol.risk.ranking import CheckRanking

# Verdicts between two updates of the risk model.
BATCH = 10
# Checks between two comparisons of the estimate with the truth.
SNAPSHOT_EVERY = 50
# The review stops after this many checks, even if careless workers are left.
MOST_CHECKS = 2_000
# Parameters of the beta prior of a worker's bad share, in the other strategies.
PRIOR = (0.5, 4.5)

Codes = Sequence[tuple[str, ...]]


@dataclass
class SimulatedReview:
    """The state of a review of one crowd: verdicts, exclusions and removed captions.

    Captions are named by their numbers in `crowd.captions`. `order` has them in a random order, and
    `work` has each worker's captions in that order.
    """

    crowd: Crowd
    seed: int
    verdicts: dict[int, bool] = field(default_factory=dict)  # is the caption bad
    excluded: dict[int, int] = field(default_factory=dict)  # number of checks before, by worker
    removals: list[tuple[int, str]] = field(
        default_factory=list
    )  # (checks before, failure pattern)
    # (checks, captions kept, bad captions kept) after each change.
    history: list[tuple[int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.order = list(range(len(self.crowd.captions)))
        random.Random(self.seed).shuffle(self.order)
        self.work: dict[int, list[int]] = defaultdict(list)
        for number in self.order:
            self.work[self.crowd.captions[number].worker].append(number)
        careless = self.crowd.patterns
        self.to_remove = sum(c.is_bad and c.worker in careless for c in self.crowd.captions)
        self._note()

    @property
    def checks(self) -> int:
        return len(self.verdicts)

    def judge(self, number: int) -> bool:
        """Record the verdict on a caption, and remove a bad one. Returns whether it is bad."""
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
            (self.checks, self.crowd.patterns[caption.worker])
            for caption in captions
            if caption.is_bad and caption.worker in self.crowd.patterns
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
        """The share of bad captions among those kept, after this many checks."""
        at = bisect_right(self.history, checks, key=itemgetter(0))
        _, kept, bad = self.history[at - 1]
        return bad / max(1, kept)

    def is_kept(self, number: int) -> bool:
        worker = self.crowd.captions[number].worker
        return worker not in self.excluded and not self.verdicts.get(number, False)

    @property
    def is_done(self) -> bool:
        """Whether 95% of careless workers are excluded and 95% of their bad captions removed."""
        careless = self.crowd.patterns
        caught = sum(worker in careless for worker in self.excluded)
        return caught >= 0.95 * len(careless) and len(self.removals) >= 0.95 * self.to_remove


@dataclass(frozen=True)
class Snapshot:
    """The product's estimates after this many checks, compared with the truth. `truth` is the true
    share of bad captions. `intervals` has for each worker whether the worker is careless, and
    whether the interval contains the worker's true share."""

    checks: int
    truth: float
    estimate: Estimate
    intervals: list[tuple[bool, bool]]


def check_by_expected_value(
    review: SimulatedReview, codes: Codes, *, least: int = 0, most: int = MOST_CHECKS
) -> list[Snapshot]:
    """Check what the product's ranking gives until the review is done: at least `least` and at most
    `most` captions. `codes` has each caption's flags. Returns snapshots, from the start on."""
    groups = _Groups(review, codes)
    random_sample = (
        number
        for number in review.order
        if number not in review.verdicts and review.is_kept(number)
    )
    snapshots: list[Snapshot] = []
    while review.checks < most and not (review.is_done and review.checks >= least):
        weighed = fit(groups.counted())
        for worker, worker_risk, bad in zip(
            weighed.workers, weighed.risk, weighed.judged_bad, strict=True
        ):
            if worker not in review.excluded and weighed.is_excludable(worker_risk, bad):
                review.exclude(worker)
        if review.checks % SNAPSHOT_EVERY == 0:
            intervals = _intervals(review, weighed)
            snapshots.append(
                Snapshot(review.checks, true_share(review), estimate(review, codes), intervals)
            )
        ranking = CheckRanking(weighed, excluded=review.excluded)
        for _ in range(BATCH):
            number = (
                next(random_sample, None)
                if is_required_turn(review.checks)
                else groups.take(ranking)
            )
            if number is None:
                return snapshots
            groups.count(number, is_bad=review.judge(number))
    return snapshots


def _intervals(review: SimulatedReview, weighed: risk.Crowd) -> list[tuple[bool, bool]]:
    """For each worker: is the worker careless, and does the interval contain the true share."""
    intervals = []
    for worker, work in review.work.items():
        share = sum(review.crowd.captions[number].is_bad for number in work) / len(work)
        estimate = weighed.estimate(worker)
        contains = estimate.low - 1e-9 <= share <= estimate.high + 1e-9
        intervals.append((worker in review.crowd.patterns, contains))
    return intervals


class _Groups:
    """The captions grouped by worker, block and flags, as the risk model counts them."""

    def __init__(self, review: SimulatedReview, codes: Codes) -> None:
        self.review = review
        written: Counter[int] = Counter()
        self.key_of = []
        for caption, caption_codes in zip(review.crowd.captions, codes, strict=True):
            self.key_of.append((caption.worker, block_of(written[caption.worker]), caption_codes))
            written[caption.worker] += 1
        self.members = defaultdict(list)
        for number in reversed(review.order):
            self.members[self.key_of[number]].append(number)
        self.numbers = {key: [len(numbers), 0, 0] for key, numbers in self.members.items()}
        for number, is_bad in review.verdicts.items():
            self.count(number, is_bad=is_bad)

    def counted(self) -> Iterator[Group]:
        for (worker, block, codes), numbers in self.numbers.items():
            yield Group(worker, block, codes, *numbers)

    def take(self, ranking: CheckRanking) -> int | None:
        """The next caption of the ranking without a verdict; None if none is left."""
        while (pick := ranking.take()) is not None:
            members = self.members[pick.worker, pick.block, pick.codes]
            while members:
                number = members.pop()
                if number not in self.review.verdicts:
                    return number
        return None

    def count(self, number: int, *, is_bad: bool) -> None:
        numbers = self.numbers[self.key_of[number]]
        numbers[0] -= 1
        numbers[2 if is_bad else 1] += 1


def check_at_random(review: SimulatedReview, *, least: int = 0) -> None:
    """Check captions in random order until the review is done, at least `least` of them."""
    _check_in_order(review, iter(review.order), least)


def check_round_robin(review: SimulatedReview, *, least: int = 0) -> None:
    """Check a random caption of each worker in turn."""
    _check_in_order(review, _in_turn(review.work.values()), least)


def _in_turn(lists: Iterable[list[int]]) -> Iterator[int]:
    rounds = chain.from_iterable(zip_longest(*lists))
    return (number for number in rounds if number is not None)


def _check_in_order(review: SimulatedReview, order: Iterator[int], least: int) -> None:
    counts: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for number in order:
        worker = review.crowd.captions[number].worker
        if worker in review.excluded:
            continue
        verdicts = counts[worker]
        verdicts[review.judge(number)] += 1
        if is_over(*verdicts):
            review.exclude(worker)
        if review.checks >= least and review.is_done:
            return


@cache
def is_over(good: int, bad: int) -> bool:
    """Whether the beta posterior of the bad share is above the limit with enough certainty."""
    return bool(betaincc(PRIOR[0] + bad, PRIOR[1] + good, LIMIT) >= CERTAINTY)


def estimate(review: SimulatedReview, codes: Codes) -> Estimate:
    """The product's estimate of the share of bad captions."""

    def group_of(number: int) -> tuple[int, bool]:
        return review.crowd.captions[number].worker, bool(codes[number])

    kept = {worker for worker in review.work if worker not in review.excluded}
    written = Counter(group_of(number) for worker in kept for number in review.work[worker])
    verdicts = [
        (group_of(number), is_bad)
        for number, is_bad in review.verdicts.items()
        if review.crowd.captions[number].worker in kept
    ]
    judged = Counter(group for group, _ in verdicts)
    removed = sum(is_bad for _, is_bad in verdicts)
    sample = Counter((group_of(number), is_bad) for number, is_bad in _sample(review))
    workers = {worker for (worker, _), _ in sample}
    return estimate_share(
        [
            Sampled(*group, sample[group, False], sample[group, True], number, judged[group])
            for group, number in written.items()
            if group[0] in workers
        ],
        kept=written.total() - removed,
        removed=removed,
        unseen=written.total() - len(verdicts),
    )


def _sample(review: SimulatedReview) -> Iterator[tuple[int, bool]]:
    """The random sample and its verdicts, in random order, up to the first missing verdict."""
    for number in review.order:
        if review.crowd.captions[number].worker in review.excluded:
            continue
        if number not in review.verdicts:
            return
        yield number, review.verdicts[number]


def true_share(review: SimulatedReview) -> float:
    kept = [number for number in review.order if review.is_kept(number)]
    return sum(review.crowd.captions[number].is_bad for number in kept) / max(1, len(kept))
