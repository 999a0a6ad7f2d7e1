"""A flag: an automatic warning with the measurement behind it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Flag:
    """A warning that a response may be careless. It is never a verdict."""

    code: str
    value: float
    threshold: float
    why: str  # a sentence for reviewers

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "value": round(self.value, 3),
            "threshold": self.threshold,
            "why": self.why,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        return cls(**values)


def codes(flags: Iterable[Flag]) -> tuple[str, ...]:
    """The flags' codes in alphabetical order, each once."""
    return tuple(sorted({flag.code for flag in flags}))
