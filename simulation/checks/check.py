"""The result of one check of the demo."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """A claim about the results, whether it holds, and what was found."""

    holds: bool
    claim: str
    found: str
