"""Measure and report the time of each step of the demo."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Clock:
    """Measures steps and reports each when it ends."""

    tell: Callable[[str], object]
    seconds: float = 0.0

    @contextmanager
    def __call__(self, title: str) -> Iterator[list[str]]:
        """Time the block. Notes appended to the list are shown after its title."""
        notes: list[str] = []
        start = time.monotonic()
        yield notes
        took = time.monotonic() - start
        self.seconds += took
        self.tell(f"{took:6.1f} s  {title:<28} {'; '.join(notes)}")
