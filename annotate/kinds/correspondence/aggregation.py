"""Combine several workers' answers: decide which links hold, and the kinds of the other words.

Each (word, box) pair is a yes-or-no question, which every worker of the caption answered by linking
the two or not. The kind of a word without a box is another question. Only pairs that somebody
linked are considered, because all workers agree about the others. Votes are counted, and weighted
with the error rates of Dawid and Skene's model.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from annotate.kinds.correspondence.answers import WordKind, Words, links
from annotate.kinds.correspondence.dawid_skene import Votes, dawid_skene, vote_shares

Method = Literal["dawid-skene", "majority"]
# Prior answers of each worker, the same number for each label: four correct ones, and one wrong one
# for each other label. Without them, the model would conclude from a few correct answers that a
# worker always gives these answers.
KNOWN_RIGHT, KNOWN_WRONG = 4, 1
LINKED = "linked"


class Answers(NamedTuple):
    """Several workers' answers about one caption, by worker number."""

    workers: Sequence[int]
    words: Sequence[Words]


class Link(NamedTuple):
    """A box that a word refers to."""

    box: int
    support: float  # share of the workers who linked the two
    probability: float  # after Dawid and Skene


class Word(NamedTuple):
    """The combined answer for a word: its links or, without links, its kind.

    It has neither if workers link the word to boxes without agreeing on one.
    """

    links: tuple[Link, ...] = ()
    kind: WordKind | None = WordKind.NOT_VISUAL
    # Share of the workers who gave this kind; None for a linked word.
    support: float | None = 1.0


class Belief(NamedTuple):
    """An answer to a question: its share of the votes, and its probability."""

    support: float
    probability: float


Question = tuple[int, ...]
Vote = tuple[Question, int, str]
Value = TypeVar("Value", Question, int, str)


def aggregate(captions: Sequence[Answers], method: Method) -> list[dict[int, Word]]:
    """For each caption, the combined answer of each word that any worker answered, by word number.

    A link holds if its share of the votes, or its probability after Dawid and Skene, is above one
    half. All captions are processed together, because the model estimates workers' error rates from
    all their answers.
    """
    pairs = _beliefs([vote for n, caption in enumerate(captions) for vote in _pairs(n, caption)])
    labels = _beliefs([vote for n, caption in enumerate(captions) for vote in _kinds(n, caption)])
    found: list[dict[int, Word]] = [{} for _ in captions]
    for (caption, word), beliefs in labels.items():
        found[caption][word] = _kind_of(beliefs, method)
    for (caption, word, box), beliefs in sorted(pairs.items()):
        belief = beliefs.get(LINKED, Belief(0, 0))
        if _strength(belief, method) > 0.5:
            others = found[caption][word].links
            found[caption][word] = Word((*others, Link(box, *belief)), None, None)
    return found


def _pairs(caption: int, answers: Answers) -> Iterator[Vote]:
    linked = [links(words) for words in answers.words]
    all_words = sorted({word for pairs in linked for word, _ in pairs})
    all_boxes = sorted({box for pairs in linked for _, box in pairs})
    for word in all_words:
        for box in all_boxes:
            for worker, pairs in zip(answers.workers, linked, strict=True):
                yield (caption, word, box), worker, LINKED if (word, box) in pairs else "apart"


def _kinds(caption: int, answers: Answers) -> Iterator[Vote]:
    for word in sorted({int(number) for words in answers.words for number in words}):
        for worker, words in zip(answers.workers, answers.words, strict=True):
            said = words.get(str(word), WordKind.NOT_VISUAL)
            yield (caption, word), worker, said if isinstance(said, str) else LINKED


def _kind_of(beliefs: dict[str, Belief], method: Method) -> Word:
    """The most likely kind; if equal, the first in the order of WordKind, after links."""
    order = [LINKED, *WordKind]
    best = max(order, key=lambda name: _strength(beliefs.get(name, Belief(0, 0)), method))
    if best == LINKED:
        return Word((), None, None)
    return Word((), WordKind(best), beliefs[best].support)


def _strength(belief: Belief, method: Method) -> float:
    return belief.support if method == "majority" else belief.probability


def _beliefs(votes: Sequence[Vote]) -> dict[Question, dict[str, Belief]]:
    """Vote share and probability of each answer to each question."""
    if not votes:
        return {}
    names = sorted({label for _, _, label in votes})
    questions, workers, labels = zip(*votes, strict=True)
    numbered = Votes(_numbers(questions), _numbers(workers), _numbers(labels), len(names))
    known = np.full((len(names),) * 2, KNOWN_WRONG)
    np.fill_diagonal(known, KNOWN_RIGHT)
    probabilities = dawid_skene(numbered, known=known).probabilities
    return {
        question: {
            name: Belief(share, probability)
            for name, share, probability in zip(names, *beliefs, strict=True)
        }
        for question, *beliefs in zip(
            sorted(set(questions)),
            vote_shares(numbered).tolist(),
            probabilities.tolist(),
            strict=True,
        )
    }


def _numbers(values: Sequence[Value]) -> NDArray[np.int64]:
    """The number of each value in the sorted order of distinct values."""
    numbers = {value: number for number, value in enumerate(sorted(set(values)))}
    return np.array([numbers[value] for value in values], np.int64)
