"""Read and check the parameters of review policies. Does not use Django."""

from collections.abc import Mapping
from typing import Any

KNOWN_ANSWERS = "ScoreMyKnownAnswers/2011-09-01"
PLURALITY = "SimplePlurality/2011-09-01"

# Maximum lengths of a reason that workers read, and of a question's name.
LONGEST_REASON, LONGEST_QUESTION = 1024, 255
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
        self._parameters = {each.get("Key", ""): each for each in document.get("Parameters", [])}

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
        return {each.get("Key", ""): each.get("Values", []) for each in entries}

    def problems(self, expected: str) -> list[str]:
        """What is wrong with the policy, as sentences; empty if it is valid."""
        if self.name != expected:
            return [f"PolicyName must be {expected} at this level, not {self.name}."]
        keys = set(self._parameters)
        found = [
            f"{self.name} has no parameter {key}."
            for key in sorted(keys - NUMBERS[expected] - OTHERS[expected])
        ]
        found += [f"{self.name} needs {key}." for key in sorted(REQUIRED[expected] - keys)]
        for key in sorted(keys & NUMBERS[expected]):
            text = self.text(key)
            if not (text.isascii() and text.isdigit() and len(text) < 10):
                found.append(f"The value of {key} must be a whole number.")
        if any(key.startswith("ExtendIf") for key in keys) and not keys >= _EXTENSION:
            found.append(f"An extension needs {' and '.join(sorted(_EXTENSION))}.")
        return found + self._text_problems()

    def _text_problems(self) -> list[str]:
        found = [
            f"{key} must have at most {LONGEST_REASON} characters."
            for key in ("ApproveReason", "RejectReason")
            if len(self.text(key)) > LONGEST_REASON
        ]
        questions = [*self.values("QuestionIds"), *self.mapping("AnswerKey")]
        if any(len(question) > LONGEST_QUESTION for question in questions):
            found.append(f"A question's name must have at most {LONGEST_QUESTION} characters.")
        # Without questions all scores are 0, and the policy might reject all work because of it.
        if not questions and REQUIRED[self.name] <= set(self._parameters):
            found.append(f"{self.name} needs at least one question.")
        return found
