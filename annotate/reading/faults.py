"""Entries of a file that were left out, and why."""

from collections.abc import Iterator
from dataclasses import dataclass, field

# The others are counted; a file may have millions.
MOST_KEPT = 1_000


@dataclass
class Faults:
    """How many entries were left out; the first MOST_KEPT of them by line, with the reason."""

    count: int = 0
    kept: list[tuple[int, str]] = field(default_factory=list)

    def add(self, line: int, reason: str) -> None:
        self.count += 1
        if len(self.kept) < MOST_KEPT:
            self.kept.append((line, reason))

    def told(self, most: int) -> Iterator[str]:
        """A line about each of the first ones, and how many more there are."""
        for line, reason in self.kept[:most]:
            yield f"line {line}: {reason}"
        if self.count > most:
            yield f"and {self.count - most} more lines"
