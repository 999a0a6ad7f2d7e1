"""Scores of review policies: agreement with known answers, and between workers.

Does not use Django. An answer is a set of values. Two answers agree if they have the same values,
ignoring surrounding whitespace.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

# Longer texts are not compared: free texts practically never agree.
LONGEST_COMPARED = 256

Answers = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class KnownAnswers:
    """Which known answers were given correctly, and their share in per cent."""

    correct: dict[str, bool]
    score: int


@dataclass(frozen=True)
class Plurality:
    """The agreed answer to each question, and the agreement of each worker and of the HIT."""

    agreed: dict[str, frozenset[str]]
    levels: dict[str, int]
    agreements: dict[str, dict[str, bool]]
    worker_scores: dict[str, int]
    hit_score: int


def _normalised(values: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(None, (value.strip() for value in values)))


def score_known_answers(key: Answers, given: Answers) -> KnownAnswers:
    """Compare a worker's answers with the key; empty answers and empty keys never match."""
    correct = {}
    for question, wanted in key.items():
        answer = _normalised(given.get(question, ()))
        correct[question] = bool(answer) and answer == _normalised(wanted)
    score = sum(correct.values()) * 100 // len(correct) if correct else 0
    return KnownAnswers(correct, score)


def find_plurality(
    questions: Sequence[str], given: Mapping[str, Answers], *, threshold: int
) -> Plurality:
    """The answers that more than `threshold` per cent of the assignments gave, by question."""
    agreed: dict[str, frozenset[str]] = {}
    levels: dict[str, int] = {}
    for question in questions:
        votes = Counter(_vote(answers, question) for answers in given.values())
        votes.pop(frozenset(), None)
        if not votes:
            continue
        answer, count = min(votes.items(), key=lambda vote: (-vote[1], sorted(vote[0])))
        level = count * 100 // len(given)
        if level > threshold:
            agreed[question], levels[question] = answer, level
    agreements = {
        name: {question: _vote(answers, question) == agreed[question] for question in agreed}
        for name, answers in given.items()
    }
    return Plurality(
        agreed=agreed,
        levels=levels,
        agreements=agreements,
        worker_scores={
            name: sum(each.values()) * 100 // len(each) for name, each in agreements.items() if each
        },
        hit_score=len(agreed) * 100 // len(questions) if questions else 0,
    )


def _vote(answers: Answers, question: str) -> frozenset[str]:
    values = _normalised(answers.get(question, ()))
    return values if all(len(value) <= LONGEST_COMPARED for value in values) else frozenset()
