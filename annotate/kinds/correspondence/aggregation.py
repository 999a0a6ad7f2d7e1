"""One answer out of several workers': which links hold, and what the words without one are.

Links are (word, box) pairs, each a yes-or-no question that every worker of the caption answered by
linking or not linking the two. The kind of a word without a box is one question more. Pairs are
asked of the words and boxes that somebody linked, since all agree on the others. Votes are counted,
and weighed by Dawid and Skene's model of who errs how often.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from annotate.kinds.correspondence.answers import WordKind, Words, links
from annotate.kinds.correspondence.dawid_skene import Votes, dawid_skene, vote_shares

Method = Literal["dawid-skene", "majority"]
# Each worker is taken to have answered a few questions before, as many for each label: four right,
# and one wrong for each other label. Otherwise the model takes a worker of a few answers, all of
# them right, for one who would give these answers to any question.
KNOWN_RIGHT, KNOWN_WRONG = 4, 1
LINKED = "linked"


class Answers(NamedTuple):
    """What several workers, by their numbers, said of one caption."""

    workers: Sequence[int]
    words: Sequence[Words]


class Link(NamedTuple):
    """A box that a word refers to."""

    box: int
    support: float  # share of the workers who linked the two
    probability: float  # after Dawid and Skene


class Word(NamedTuple):
    """What a word comes to: its links or, without any, its kind; neither if workers link it to
    boxes that they do not agree on."""

    links: tuple[Link, ...] = ()
    kind: WordKind | None = WordKind.NOT_VISUAL
    # Share of the workers who gave it this kind; nothing for a linked word.
    support: float | None = 1.0


class Belief(NamedTuple):
    """How an answer to a question stands: share of the votes, and probability."""

    support: float
    probability: float


Question = tuple[int, ...]
Vote = tuple[Question, int, str]
Value = TypeVar("Value", Question, int, str)


def aggregate(captions: Sequence[Answers], method: Method) -> list[dict[int, Word]]:
    """For each caption, what the words come to that any worker answered, by their numbers.

    A link holds if it is more likely than not: by the votes counted, or after Dawid and Skene. All
    captions are taken together, because the model learns each worker's errors from all they did.
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
    """The likeliest kind; of two alike the first in the order of WordKind, after linked ones."""
    order = [LINKED, *WordKind]
    best = max(order, key=lambda name: _strength(beliefs.get(name, Belief(0, 0)), method))
    if best == LINKED:
        return Word((), None, None)
    return Word((), WordKind(best), beliefs[best].support)


def _strength(belief: Belief, method: Method) -> float:
    return belief.support if method == "majority" else belief.probability


def _beliefs(votes: Sequence[Vote]) -> dict[Question, dict[str, Belief]]:
    """How each answer to each question stands."""
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
    """Each value's number in the order of the distinct values."""
    numbers = {value: number for number, value in enumerate(sorted(set(values)))}
    return np.array([numbers[value] for value in values], np.int64)
