"""Operations that must not become slower as a site grows: the same with few and with many rows.

Each size has its own database. They alternate, so that other load on the machine affects both.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TypeVar

from benchmarks.harness import Line, Report, milliseconds, ratio, scratch_database, use

SIZES = (1_000, 100_000)
AIM = 1.5
Scene = TypeVar("Scene")


@contextmanager
def both_sizes(
    set_the_scene: Callable[[int], Scene], sizes: tuple[int, int] = SIZES
) -> Iterator[dict[str, Scene]]:
    """A scratch database of each size, by name, with the result of `set_the_scene` in it."""
    with ExitStack() as stack:
        databases = [stack.enter_context(scratch_database()) for _ in sizes]
        scenes = {}
        for database, size in zip(databases, sizes, strict=True):
            use(database)
            scenes[database] = set_the_scene(size)
        yield scenes


def add_growth(
    report: Report,
    key: str,
    what: str,
    times: Mapping[str, list[float]],
    *,
    sizes: tuple[int, int] = SIZES,
    rows: str = "tasks",
    aim: float = AIM,
) -> None:
    """Add the median times in both databases, the small one's first, and their ratio."""
    small, large = (round(milliseconds(each), 3) for each in times.values())
    growth = ratio(large, small)
    report.lines.append(
        Line(
            what,
            f"{large:.3f} ms with {sizes[1]:,} {rows}",
            f"{small:.3f} ms with {sizes[0]:,}",
            growth,
            aim,
        )
    )
    report.figures["sizes"] = list(sizes)
    report.figures[key] = {"small_ms": small, "large_ms": large, "growth": growth}
