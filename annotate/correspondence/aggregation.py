"""One answer out of several workers': which links hold, and what the words without one are.

Links are (word, box) pairs, each a yes-or-no question that every worker of the caption answered by
linking or not linking the two; what a word without a box is, is one question more. Pairs are asked
of the words and boxes that somebody linked, since all are agreed on the others. Votes are counted,
and weighed by Dawid and Skene's model of who errs how often (Applied Statistics 28(1), 1979), both
by crowd-kit.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Literal, NamedTuple

from annotate.correspondence.answers import WordKind, Words, kinds, links

if TYPE_CHECKING:
    from pandas import DataFrame, Series

Method = Literal["dawid-skene", "majority"]
ITERATIONS = 100
KNOWN_RIGHT = 4
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
            is_linked = isinstance(words.get(str(word)), list)
            kind = LINKED if is_linked else kinds(words).get(word, WordKind.NOT_VISUAL)
            yield (caption, word), worker, kind


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
    # Two seconds to import, which only those who make a release should wait.
    from crowdkit.aggregation.classification.dawid_skene import DawidSkene
    from crowdkit.aggregation.classification.majority_vote import MajorityVote

    prior = list(_prior(votes))
    truths = {question: truth for (question, _, _), truth in prior}
    numbers = {question: n for n, question in enumerate({vote[0]: 0 for vote in votes} | truths)}
    with warnings.catch_warnings():
        # crowd-kit calls pandas in a way that pandas is about to give up.
        warnings.simplefilter("ignore", DeprecationWarning)
        shares = MajorityVote().fit_predict_proba(_table(votes, numbers))
        weighed = DawidSkene(n_iter=ITERATIONS).fit_predict_proba(
            _table([*votes, *(vote for vote, _ in prior)], numbers),
            _series({numbers[question]: truth for question, truth in truths.items()}),
        )
    labels = list(shares.columns)
    weighed = weighed.reindex(index=shares.index, columns=labels).to_numpy()
    questions = list(numbers)
    return {
        questions[number]: {
            label: Belief(float(share), float(probability))
            for label, share, probability in zip(labels, row, probabilities, strict=True)
        }
        for number, row, probabilities in zip(shares.index, shares.to_numpy(), weighed, strict=True)
    }


def _prior(votes: Sequence[Vote]) -> Iterator[tuple[Vote, str]]:
    """Made-up votes on questions whose answers are known, as many for each worker: four right and
    one for each error. Without them the model takes a worker of a few answers, all of them right,
    for one who would give these answers to any question."""
    labels = sorted({label for _, _, label in votes})
    for worker in sorted({worker for _, worker, _ in votes}):
        for truth, said in product(range(len(labels)), repeat=2):
            for turn in range(KNOWN_RIGHT if said == truth else 1):
                yield ((-1, truth, said, turn), worker, labels[said]), labels[truth]


def _table(votes: Sequence[Vote], numbers: Mapping[Question, int]) -> "DataFrame":
    import pandas

    rows = ((numbers[question], worker, label) for question, worker, label in votes)
    return pandas.DataFrame(rows, columns=["task", "worker", "label"])


def _series(truths: Mapping[int, str]) -> "Series[str]":
    import pandas

    return pandas.Series(truths)
