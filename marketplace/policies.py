"""Review policies: their parameters, and the agreement of answers that they measure. No Django.

An answer is a set of values. Two answers agree if they have the same values, ignoring surrounding
whitespace.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KNOWN_ANSWERS = "ScoreMyKnownAnswers/2011-09-01"
PLURALITY = "SimplePlurality/2011-09-01"

# Maximum lengths of a reason that workers read, and of a question's name.
LONGEST_REASON, LONGEST_QUESTION = 1024, 255
# In seconds: a HIT expires within 365 days.
LONGEST_EXTENSION = 31_536_000
_EXTENSION = {"ExtendMaximumAssignments", "ExtendMinimumTimeInSeconds"}
NUMBERS = {
    KNOWN_ANSWERS: {
        "ApproveIfKnownAnswerScoreIsAtLeast",
        "RejectIfKnownAnswerScoreIsLessThan",
        "ExtendIfKnownAnswerScoreIsLessThan",
        *_EXTENSION,
    },
    PLURALITY: {
        "QuestionAgreementThreshold",
        "DisregardAssignmentIfKnownAnswerScoreIsLessThan",
        "ExtendIfHITAgreementScoreIsLessThan",
        "ApproveIfWorkerAgreementScoreIsAtLeast",
        "RejectIfWorkerAgreementScoreIsLessThan",
        *_EXTENSION,
    },
}
OTHERS = {
    KNOWN_ANSWERS: {"AnswerKey", "ApproveReason", "RejectReason"},
    PLURALITY: {"QuestionIds", "DisregardAssignmentIfRejected", "ApproveReason", "RejectReason"},
}
REQUIRED = {
    KNOWN_ANSWERS: {"AnswerKey"},
    PLURALITY: {"QuestionIds", "QuestionAgreementThreshold"},
}


class Policy:
    """A review policy in the API's format."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.name: str = document["PolicyName"]
        self._parameters = {
            parameter.get("Key", ""): parameter for parameter in document.get("Parameters", [])
        }

    def values(self, key: str) -> list[str]:
        """A parameter's values. A value may contain several, separated by commas."""
        values = self._parameters.get(key, {}).get("Values", [])
        return [part.strip() for value in values for part in value.split(",") if part.strip()]

    def text(self, key: str) -> str:
        """A parameter's first value, or an empty text."""
        return next(iter(self._parameters.get(key, {}).get("Values", [])), "")

    def number(self, key: str) -> int | None:
        """A parameter's value as an integer, or None."""
        text = self.text(key)
        return int(text) if text else None

    def flag(self, key: str) -> bool:
        """Whether a parameter is true."""
        return self.text(key).lower() in ("t", "true", "1")

    def mapping(self, key: str) -> dict[str, list[str]]:
        """A parameter's entries, such as the known answer to each question."""
        entries = self._parameters.get(key, {}).get("MapEntries", [])
        return {entry.get("Key", ""): entry.get("Values", []) for entry in entries}

    def problems(self, expected: str) -> list[str]:
        """What is wrong with the policy, as sentences; empty if it is valid."""
        if self.name != expected:
            return [f"PolicyName must be {expected} at this level, not {self.name}."]
        keys = set(self._parameters)
        problems = [
            f"{self.name} has no parameter {key}."
            for key in sorted(keys - NUMBERS[expected] - OTHERS[expected])
        ]
        problems += [f"{self.name} needs {key}." for key in sorted(REQUIRED[expected] - keys)]
        for key in sorted(keys & NUMBERS[expected]):
            text = self.text(key)
            if not (text.isascii() and text.isdigit() and len(text) < 10):
                problems.append(f"The value of {key} must be a whole number.")
            elif key == "ExtendMinimumTimeInSeconds" and not 1 <= int(text) <= LONGEST_EXTENSION:
                # Without, the slot of a HIT that has expired would stay closed, and its cost
                # reserved.
                problems.append(f"The value of {key} must be from 1 to {LONGEST_EXTENSION}.")
        if any(key.startswith("ExtendIf") for key in keys) and not keys >= _EXTENSION:
            problems.append(f"An extension needs {' and '.join(sorted(_EXTENSION))}.")
        return problems + self._text_problems()

    def _text_problems(self) -> list[str]:
        problems = [
            f"{key} must have at most {LONGEST_REASON} characters."
            for key in ("ApproveReason", "RejectReason")
            if len(self.text(key)) > LONGEST_REASON
        ]
        questions = [*self.values("QuestionIds"), *self.mapping("AnswerKey")]
        if any(len(question) > LONGEST_QUESTION for question in questions):
            problems.append(f"A question's name must have at most {LONGEST_QUESTION} characters.")
        # Without questions all scores are 0, and the policy might reject all work because of it.
        if not questions and REQUIRED[self.name] <= set(self._parameters):
            problems.append(f"{self.name} needs at least one question.")
        return problems


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
    """The answers that more than `threshold` per cent of the assignments gave, by question. A
    question that is named twice counts once."""
    questions = [*dict.fromkeys(questions)]
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
            name: sum(agreement.values()) * 100 // len(agreement)
            for name, agreement in agreements.items()
            if agreement
        },
        hit_score=len(agreed) * 100 // len(questions) if questions else 0,
    )


def _vote(answers: Answers, question: str) -> frozenset[str]:
    values = _normalised(answers.get(question, ()))
    return values if all(len(value) <= LONGEST_COMPARED for value in values) else frozenset()
