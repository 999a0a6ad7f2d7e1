"""The subset selection of nocaps (Agrawal et al. 2019, section 3.1), as plain Python.

An image is known by the object classes in it and the number of instances of each. Images of one
class are left out, images of more than six are all taken. The others form five pools by number of
classes; the pools take turns, and at each turn some images are drawn at random from the pool, of
which the one stays that gives the chosen set the highest entropy over classes. The others go back.
"""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

FEWEST_CLASSES, MOST_CLASSES = 2, 6
# The paper draws "n images" and does not say how many.
DEFAULT_SAMPLE = 10
# Differences below this are rounding, not entropy: of equals, the first one drawn stays.
LEAST_GAIN = 1e-12


class Candidate(NamedTuple):
    """An image with its classes and the number of instances of each."""

    key: str
    instances: Sequence[tuple[int, int]]


class ClassCounts:
    """Instances of each class in a growing set, with its entropy kept up to date.

    With N instances, c of a class, the entropy −Σ c/N ln c/N is ln N − (Σ c ln c)/N. So a set's
    entropy follows from two sums, and trying an image costs as many steps as it has classes.
    """

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.total = 0
        self.weighted = 0.0
        self._logs: list[float] = [0.0]

    def entropy(self) -> float:
        """In nats; 0 for the empty set."""
        return math.log(self.total) - self.weighted / self.total if self.total else 0.0

    def entropy_with(self, instances: Iterable[tuple[int, int]]) -> float:
        """The entropy if an image were added."""
        total, weighted = self._sums_with(instances)
        return math.log(total) - weighted / total

    def add(self, instances: Iterable[tuple[int, int]]) -> None:
        self.total, self.weighted = self._sums_with(instances)
        for object_class, number in instances:
            self.counts[object_class] = self.counts.get(object_class, 0) + number

    def _sums_with(self, instances: Iterable[tuple[int, int]]) -> tuple[int, float]:
        total, weighted, counts = self.total, self.weighted, self.counts
        for object_class, number in instances:
            before = counts.get(object_class, 0)
            total += number
            weighted += self._count_log(before + number) - self._count_log(before)
        return total, weighted

    def _count_log(self, count: int) -> float:
        """c ln c, from a table that grows with the counts."""
        logs = self._logs
        while count >= len(logs):
            logs.append(len(logs) * math.log(len(logs)))
        return logs[count]


class TooFewImages(ValueError):
    """Fewer images can be chosen than were asked for."""

    def __init__(self, available: int) -> None:
        super().__init__(f"{available} images can be chosen from")
        self.available = available


def choose(
    candidates: Iterable[Candidate],
    *,
    count: int,
    sample: int = DEFAULT_SAMPLE,
    seed: int = 0,
    progress: Callable[[int], object] = lambda _: None,
) -> list[Candidate]:
    """The images chosen, in the order of their choice; raises TooFewImages.

    The same candidates give the same choice for a seed, in whatever order they come.
    """
    generator = random.Random(seed)
    rich, pools = divide(sorted(candidates, key=lambda candidate: candidate.key))
    available = len(rich) + sum(map(len, pools))
    if available < count:
        raise TooFewImages(available)
    if len(rich) > count:
        return generator.sample(rich, count)
    chosen = list(rich)
    counts = ClassCounts()
    for candidate in chosen:
        counts.add(candidate.instances)
    progress(len(chosen))
    while len(chosen) < count:
        for pool in pools:
            if pool and len(chosen) < count:
                best = draw(pool, counts, min(sample, len(pool)), generator)
                counts.add(best.instances)
                chosen.append(best)
                progress(1)
    return chosen


def divide(candidates: Iterable[Candidate]) -> tuple[list[Candidate], list[list[Candidate]]]:
    """The images of so many classes that all are taken, and the pools of the others."""
    rich: list[Candidate] = []
    pools: list[list[Candidate]] = [[] for _ in range(FEWEST_CLASSES, MOST_CLASSES + 1)]
    for candidate in candidates:
        classes = len(candidate.instances)
        if classes > MOST_CLASSES:
            rich.append(candidate)
        elif classes >= FEWEST_CLASSES:
            pools[classes - FEWEST_CLASSES].append(candidate)
    return rich, pools


def draw(
    pool: list[Candidate], counts: ClassCounts, sample: int, generator: random.Random
) -> Candidate:
    """Take the best of a random sample out of the pool."""
    best_place, best_entropy = 0, -math.inf
    for place in generator.sample(range(len(pool)), sample):
        entropy = counts.entropy_with(pool[place].instances)
        if entropy - best_entropy > LEAST_GAIN:
            best_place, best_entropy = place, entropy
    return pool.pop(best_place)
