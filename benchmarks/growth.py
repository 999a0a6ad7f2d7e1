"""What must not take longer as a campaign grows: the same acts with 1,000 and with 100,000 tasks.

Each size has a database of its own, and they take turns, so that a busy moment of the machine slows
both alike.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TypeVar

from benchmarks.harness import Line, Report, milliseconds, ratio, scratch_database, use

SIZES = (1_000, 100_000)
AIM = 1.5
Scene = TypeVar("Scene")


@contextmanager
def both_sizes(set_the_scene: Callable[[int], Scene]) -> Iterator[dict[str, Scene]]:
    """A scratch database of each size, by name, with what `set_the_scene` returned for it."""
    with ExitStack() as stack:
        databases = [stack.enter_context(scratch_database()) for _ in SIZES]
        scenes = {}
        for database, size in zip(databases, SIZES, strict=True):
            use(database)
            scenes[database] = set_the_scene(size)
        yield scenes


def add_growth(report: Report, key: str, what: str, times: Mapping[str, list[float]]) -> None:
    """Add the median times in both databases, the small one's first, and their ratio."""
    small, large = (round(milliseconds(each), 3) for each in times.values())
    growth = ratio(large, small)
    report.lines.append(
        Line(
            what,
            f"{large:.2f} ms with {SIZES[1]:,} tasks",
            f"{small:.2f} ms with {SIZES[0]:,}",
            growth,
            AIM,
        )
    )
    report.figures["sizes"] = list(SIZES)
    report.figures[key] = {"small_ms": small, "large_ms": large, "growth": growth}
