"""Collects the entries of a file that were skipped, with the reasons."""

from collections.abc import Iterator
from dataclasses import dataclass, field

# Further entries are only counted: a file may have millions.
MOST_KEPT = 1_000


@dataclass
class Faults:
    """The number of skipped entries, and line and reason of the first MOST_KEPT."""

    count: int = 0
    kept: list[tuple[int, str]] = field(default_factory=list)

    def add(self, line: int, reason: str) -> None:
        self.count += 1
        if len(self.kept) < MOST_KEPT:
            self.kept.append((line, reason))

    def lines(self, most: int) -> Iterator[str]:
        """One line of text for each of the first `most` entries, and one for the rest."""
        for line, reason in self.kept[:most]:
            yield f"line {line}: {reason}"
        if self.count > most:
            yield f"and {self.count - most} more lines"
