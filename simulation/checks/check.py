"""One thing that must hold at the demonstration's end."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """What must hold, whether it does, and what was found."""

    holds: bool
    claim: str
    found: str
