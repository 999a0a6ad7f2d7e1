"""How far workers agree on what words refer to.

A worker's answer about one word is a set: of boxes, or of a kind alone. Sets are compared by
Jaccard's distance, the share of their members that the two do not have in common.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean

from annotate.kinds.correspondence.answers import WordKind, Words

Value = frozenset[object]
NOTHING: Value = frozenset({WordKind.NOT_VISUAL.value})


def values(words: Words) -> dict[int, Value]:
    """Each answered word's value."""
    return {
        int(number): frozenset({said} if isinstance(said, str) else said)
        for number, said in words.items()
    }


def overlap(one: Words, other: Words) -> float:
    """The harmonic mean of how much of each answer the other has: 2|A∩B| / (|A| + |B|) of their
    pairs of a word and a box or a kind; 1 where neither has any. Words that nobody can see say
    nothing."""
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
    """For each answer to one task, its mean overlap with the others; empty for a single one."""
    found: dict[int, list[float]] = defaultdict(list)
    for one, other in combinations(answers, 2):
        shared = overlap(answers[one], answers[other])
        found[one].append(shared)
        found[other].append(shared)
    return {key: fmean(shares) for key, shares in found.items()}


def distance(one: Value, other: Value) -> float:
    """Jaccard's: 0 for the same set, 1 for sets with nothing in common."""
    return 1 - len(one & other) / len(one | other)


def units(answers: Sequence[Words]) -> Iterator[list[Value]]:
    """A caption's words that any worker answered, each with the value that every worker gave it.
    A word passed over is one that nothing can be seen of."""
    given = [values(words) for words in answers]
    for number in sorted({number for worker in given for number in worker}):
        yield [worker.get(number, NOTHING) for worker in given]


def alpha(words: Iterable[Sequence[Value]]) -> float | None:
    """Krippendorff's alpha (Content Analysis, 2004, chapter 11) over the values that workers gave
    each word: 1 agreed, 0 as by chance; None where there is nothing to disagree on.

    Written out, since sets are no array: pairs are counted by value, so it takes as much memory as
    there are different values, however many words.
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
