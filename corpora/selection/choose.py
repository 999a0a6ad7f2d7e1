"""The subset selection of nocaps (Agrawal et al. 2019, section 3.1). Does not use Django.

An image is described by its object classes and the number of instances of each. Images with one
class are excluded; images with more than six are all chosen. The others form five pools by their
number of classes. The pools take turns: each time, some images are drawn at random from the pool,
and the one that gives the chosen set the highest entropy over classes is chosen. The others return
to the pool.
"""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

FEWEST_CLASSES, MOST_CLASSES = 2, 6
# The paper draws "n images" and does not say how many.
DEFAULT_SAMPLE = 10
# Smaller differences are rounding errors. If two images are equal, the first one drawn is chosen.
LEAST_GAIN = 1e-12


class Candidate(NamedTuple):
    """An image with its classes and the number of instances of each."""

    key: str
    instances: Sequence[tuple[int, int]]


class ClassCounts:
    """Number of instances of each class in a growing set of images, with the set's entropy.

    With N instances, c of them of a class, the entropy −Σ c/N ln c/N equals ln N − (Σ c ln c)/N.
    Two running sums are therefore enough, and trying an image takes one step for each of its
    classes.
    """

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.total = 0
        self.weighted = 0.0
        self._logs: list[float] = [0.0]

    def entropy(self) -> float:
        """Entropy over classes in nats; 0 for an empty set."""
        return math.log(self.total) - self.weighted / self.total if self.total else 0.0

    def entropy_with(self, instances: Iterable[tuple[int, int]]) -> float:
        """Entropy in nats if an image with these instances were added."""
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
        """c ln c, cached in a table that grows when needed."""
        logs = self._logs
        while count >= len(logs):
            logs.append(len(logs) * math.log(len(logs)))
        return logs[count]


class TooFewImages(ValueError):
    """Fewer images qualify than were requested."""

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
    """Choose `count` images and return them in the order of their choice; raises TooFewImages.

    `sample` is the number of images compared at each step. The result depends on the candidates and
    the seed, not on the candidates' order. `progress` is called with the number of newly chosen
    images.
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
    """Images with more than MOST_CLASSES classes, and the five pools of the others."""
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
    """Remove the best image of a random sample from the pool and return it."""
    best_place, best_entropy = 0, -math.inf
    for place in generator.sample(range(len(pool)), sample):
        entropy = counts.entropy_with(pool[place].instances)
        if entropy - best_entropy > LEAST_GAIN:
            best_place, best_entropy = place, entropy
    return pool.pop(best_place)
