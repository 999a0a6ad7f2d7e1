"""Agreement of workers about the meanings of words.

A worker's answer about one word is a set: of boxes, or of a single kind. Sets are compared with
Jaccard's distance, the share of members of their union that are not in both.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean

from annotate.kinds.correspondence.answers import WordKind, Words

Value = frozenset[object]
NOTHING: Value = frozenset({WordKind.NOT_VISUAL.value})


def values(words: Words) -> dict[int, Value]:
    """The value of each answered word."""
    return {
        int(number): frozenset({said} if isinstance(said, str) else said)
        for number, said in words.items()
    }


def overlap(one: Words, other: Words) -> float:
    """Similarity of two answers: 2|A∩B| / (|A| + |B|) of their (word, box or kind) pairs.

    1 if both are empty. Words that are not visible do not count.
    """
    a, b = _statements(one), _statements(other)
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0


def _statements(words: Words) -> set[tuple[int, object]]:
    return {
        (number, member)
        for number, value in values(words).items()
        if value != NOTHING
        for member in value
    }


def mean_overlaps(answers: Mapping[int, Words]) -> dict[int, float]:
    """For each answer to one task, its mean overlap with the others; empty for a single answer."""
    overlaps: dict[int, list[float]] = defaultdict(list)
    for one, other in combinations(answers, 2):
        shared = overlap(answers[one], answers[other])
        overlaps[one].append(shared)
        overlaps[other].append(shared)
    return {key: fmean(shares) for key, shares in overlaps.items()}


def distance(one: Value, other: Value) -> float:
    """Jaccard's distance: 0 for equal sets, 1 for disjoint ones."""
    return 1 - len(one & other) / len(one | other)


def units(answers: Sequence[Words]) -> Iterator[list[Value]]:
    """For each word of a caption that any worker answered, the values of all workers.

    A word that a worker skipped counts as not visible.
    """
    given = [values(words) for words in answers]
    for number in sorted({number for worker in given for number in worker}):
        yield [worker.get(number, NOTHING) for worker in given]


def alpha(words: Iterable[Sequence[Value]]) -> float | None:
    """Krippendorff's alpha of the workers' values of each word.

    From Content Analysis (2004), chapter 11: 1 is full agreement, 0 chance agreement; None if all
    values are the same. Implemented here because sets do not fit into an array. Pairs are counted
    by value, so memory grows with the number of distinct values and not of words.
    """
    observed, pairable = 0.0, 0
    counts: Counter[Value] = Counter()
    for unit in words:
        if len(unit) < 2:
            continue
        apart = sum(distance(one, other) for one, other in combinations(unit, 2))
        observed += 2 * apart / (len(unit) - 1)
        pairable += len(unit)
        counts.update(unit)
    expected = 2 * sum(
        counts[one] * counts[other] * distance(one, other) for one, other in combinations(counts, 2)
    )
    return 1 - observed * (pairable - 1) / expected if expected else None
