"""Combine several workers' answers: decide which links hold, and the kinds of the other words.

Each (word, box) pair is a yes-or-no question, which every worker of the caption answered by linking
the two or not, for the words and the boxes that somebody linked; all workers agree about the
others. The kind of a word without a box is another question. Votes are counted, and weighted
with the error rates of the model of A. P. Dawid and A. M. Skene, "Maximum Likelihood Estimation of
Observer Error-Rates Using the EM Algorithm", Applied Statistics 28(1), 1979, 20-28.

The model: a question's true label is drawn from the class shares. A worker's vote is drawn from a
distribution that depends only on the worker and on the true label. Expectation maximization
(EM) alternates between the probabilities of the labels (the paper's equation 2.5) and the shares
and error rates that fit them best (2.3 and 2.4). It starts from the share of votes for each label.
In shapes: V votes by W workers on Q questions with K labels.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotate.kinds.correspondence.answers import WordKind, Words, links

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ITERATIONS = 100
TOLERANCE = 1e-6
# Lower bound of shares and counts, so that an event that never occurred is not impossible.
LEAST = 1e-10


class Estimate(NamedTuple):
    """The result of the model. Rows are in the order of the questions' and workers' numbers."""

    probabilities: Floats  # (Q, K): how likely each label is the true one
    shares: Floats  # (K,): how common each label is
    error_rates: Floats  # (W, K, K): [worker, true, said], a distribution over `said`
    iterations: int
    converged: bool


class Votes(NamedTuple):
    """One entry for each vote, in arrays of shape (V,). A worker need not vote on every question.

    Questions are numbered 0 to Q-1, workers 0 to W-1, labels 0 to K-1.
    """

    questions: Ints
    workers: Ints
    labels: Ints
    label_count: int


def dawid_skene(
    votes: Votes,
    *,
    known: ArrayLike | None = None,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
) -> Estimate:
    """Estimate the true labels and the error rates; raises ValueError for a question with no vote.

    `known` of shape (K, K) adds questions with known labels: each worker is assumed to have voted
    `said` on `known[true, said]` questions with the label `true`. This keeps the error rates of
    workers with few votes close to the rates in `known`.

    Stops when no probability changes by more than `tolerance`, at the latest after `iterations`.
    The order of the votes does not change the result.
    """
    votes = _ordered(votes)
    added = np.zeros((votes.label_count,) * 2) if known is None else np.asarray(known, np.float64)
    probabilities = vote_shares(votes)
    shares, error_rates = _maximize(votes, probabilities, added)
    for iteration in range(1, iterations + 1):
        before = probabilities
        probabilities = _expect(votes, shares, error_rates)
        shares, error_rates = _maximize(votes, probabilities, added)
        if np.abs(probabilities - before).max(initial=0) <= tolerance:
            return Estimate(probabilities, shares, error_rates, iteration, converged=True)
    return Estimate(probabilities, shares, error_rates, iterations, converged=False)


def vote_shares(votes: Votes) -> Floats:
    """The share of a question's votes for each label, of shape (Q, K).

    Raises ValueError if a question has no vote.
    """
    questions, labels = _count(votes.questions), votes.label_count
    cells = np.bincount(votes.questions * labels + votes.labels, minlength=questions * labels)
    counts = cells.reshape(questions, labels)
    totals = counts.sum(axis=1, keepdims=True)
    if not totals.all():
        raise ValueError(f"question {int(totals.argmin())} has no vote")
    shares: Floats = counts / totals
    return shares


def _ordered(votes: Votes) -> Votes:
    """The votes in a fixed order, because floating-point sums depend on the order."""
    order = np.lexsort((votes.labels, votes.workers, votes.questions))
    columns = (votes.questions[order], votes.workers[order], votes.labels[order])
    return Votes(*columns, votes.label_count)


def _expect(votes: Votes, shares: Floats, error_rates: Floats) -> Floats:
    """The E step, in logarithms, because a product of many small numbers underflows to zero."""
    said = np.log(error_rates[votes.workers, :, votes.labels])  # (V, K): [vote, true]
    sums = [np.bincount(votes.questions, of_label) for of_label in said.T]
    logs = np.log(shares) + np.stack(sums, axis=1)
    likelihoods = np.exp(logs - logs.max(axis=1, keepdims=True))
    probabilities: Floats = likelihoods / likelihoods.sum(axis=1, keepdims=True)
    return probabilities


def _maximize(votes: Votes, probabilities: Floats, known: Floats) -> tuple[Floats, Floats]:
    """The M step: class shares and each worker's error rates."""
    totals = probabilities.sum(axis=0) + known.sum(axis=1)
    shares = np.maximum(totals / max(totals.sum(), LEAST), LEAST)
    workers, labels = _count(votes.workers), votes.label_count
    cells = votes.workers * labels + votes.labels
    sums = [
        np.bincount(cells, of_label, minlength=workers * labels).reshape(workers, labels)
        for of_label in probabilities[votes.questions].T
    ]
    counts = np.stack(sums, axis=1) + known
    # A label that a worker never gives keeps the rate zero. A worker who always gives the same
    # label then provides no information.
    counts = np.where(counts.any(axis=1, keepdims=True), np.maximum(counts, LEAST), 0)
    return shares, counts / np.maximum(counts.sum(axis=2, keepdims=True), LEAST)


def _count(numbers: Ints) -> int:
    return int(numbers.max(initial=-1)) + 1


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
    words: list[dict[int, Word]] = [{} for _ in captions]
    for (caption, word), beliefs in labels.items():
        words[caption][word] = _kind_of(beliefs, method)
    for (caption, word, box), beliefs in sorted(pairs.items()):
        belief = beliefs.get(LINKED, Belief(0, 0))
        if _strength(belief, method) > 0.5:
            others = words[caption][word].links
            words[caption][word] = Word((*others, Link(box, *belief)), None, None)
    return words


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
    prior = np.full((len(names),) * 2, KNOWN_WRONG)
    np.fill_diagonal(prior, KNOWN_RIGHT)
    probabilities = dawid_skene(numbered, known=prior).probabilities
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
