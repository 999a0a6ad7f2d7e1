"""How long each part of the demonstration took, told as it goes."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Clock:
    """Times parts and tells each when it is over."""

    tell: Callable[[str], object]
    seconds: float = 0.0

    @contextmanager
    def __call__(self, title: str) -> Iterator[list[str]]:
        """Time the block; what it appends to the list is told beside its title."""
        notes: list[str] = []
        start = time.monotonic()
        yield notes
        took = time.monotonic() - start
        self.seconds += took
        self.tell(f"{took:6.1f} s  {title:<28} {'; '.join(notes)}")
