"""Shared parts of the benchmarks: scratch databases, timing, tables and JSON output."""

import argparse
import json
import os
import re
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

from django.conf import settings
from django.db import connection

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"


@dataclass(frozen=True)
class Line:
    """A result and what it is compared with. `aim` is the largest acceptable ratio."""

    what: str
    figure: str
    compared_with: str = ""
    ratio: float | None = None
    aim: float | None = None

    @property
    def is_met(self) -> bool:
        return self.aim is None or (self.ratio is not None and self.ratio <= self.aim)

    @property
    def verdict(self) -> str:
        if self.aim is None:
            return ""
        return f"{'within' if self.is_met else 'MISSES'} {self.aim:g}"


@dataclass
class Report:
    """A benchmark's results: lines for people, figures for programs."""

    lines: list[Line] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    # The database that was measured, if it is not this process's own.
    database: str = field(default_factory=lambda: connection.vendor)

    @property
    def is_met(self) -> bool:
        return all(line.is_met for line in self.lines)

    def as_json(self, name: str) -> str:
        aims = [
            {"what": line.what, "ratio": line.ratio, "aim": line.aim, "met": line.is_met}
            for line in self.lines
            if line.aim is not None
        ]
        about = {"benchmark": name, "database": self.database}
        return json.dumps({**about, **self.figures, "aims": aims})

    def print_table(self, title: str) -> None:
        head = ("", "figure", "compared with", "ratio", "aim")
        rows = [head, *(_cells(line) for line in self.lines)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        print(f"\n{title} ({self.database})")
        for row in rows:
            print("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip())


def _cells(line: Line) -> tuple[str, ...]:
    ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
    return (line.what, line.figure, line.compared_with, ratio, line.verdict)


def main(
    measure: Callable[[argparse.Namespace], Report],
    *,
    name: str,
    description: str | None,
    options: Callable[[argparse.ArgumentParser], None] = lambda _: None,
) -> None:
    """Run one benchmark from the command line. With `--strict`, a missed aim gives exit status
    1."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    parser.add_argument("--json", action="store_true", help="one JSON object on the last line")
    parser.add_argument("--full", action="store_true", help="the full size, which takes longer")
    parser.add_argument("--strict", action="store_true", help="exit status 1 if an aim is missed")
    options(parser)
    chosen = parser.parse_args()
    report = measure(chosen)
    report.print_table(name)
    if chosen.json:
        print(report.as_json(name), flush=True)
    if chosen.strict and not report.is_met:
        sys.exit(1)


@contextmanager
def scratch_database() -> Iterator[str]:
    """Create an empty database with all tables, on the server of DATABASE_URL or as an SQLite file
    in a temporary folder. Yields its name, for `use`, and removes it at the end. The user's
    database is not opened. Nested calls give several databases; the latest is in use."""
    usual_name = connection.settings_dict["NAME"]
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        is_file = connection.vendor == "sqlite"
        name = (
            f"{folder}/scratch.sqlite3"
            if is_file
            else f"benchmark_{os.getpid()}_{Path(folder).name[10:].lower()}"
        )
        connection.settings_dict["TEST"]["NAME"] = name
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            yield name
        finally:
            use(name)
            connection.creation.destroy_test_db(usual_name, verbosity=0)


def use(database: str) -> None:
    """Switch to another scratch database."""
    if connection.settings_dict["NAME"] != database:
        connection.close()
        settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = database


def in_turn(
    databases: Sequence[str], action: Callable[[str], list[float]], *, rounds: int
) -> dict[str, list[float]]:
    """The times that `action` measures in each database. The databases alternate, so that other
    load on the machine affects both."""
    times: dict[str, list[float]] = {database: [] for database in databases}
    for _ in range(rounds):
        for database in databases:
            use(database)
            times[database] += action(database)
    return times


def seconds(action: Callable[[], object]) -> float:
    """The seconds that one call takes."""
    began = perf_counter()
    action()
    return perf_counter() - began


def peak_megabytes() -> float:
    """The peak memory of this process since its program started.

    On Linux, `getrusage` also counts what the process used before it ran this program, when it was
    still a copy of its parent.
    """
    status = Path("/proc/self/status")
    if status.exists():
        kilobytes = re.search(r"VmHWM:\s+(\d+)", status.read_text())
        assert kilobytes is not None
        return int(kilobytes[1]) * 1024 / 1e6
    # macOS counts bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def milliseconds(times: list[float]) -> float:
    """The median of some seconds, in milliseconds."""
    return 1000 * median(times)


def ratio(figure: float, base: float) -> float:
    return round(figure / base, 3)


# Operations must not become slower as a site grows: rows of the small and the large database, and
# the largest growth.
SIZES, AIM = (1_000, 100_000), 1.5
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
    small, large = (round(milliseconds(series), 3) for series in times.values())
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


def settle_down() -> None:
    """Run ANALYZE on PostgreSQL, instead of waiting for autovacuum. VACUUM, too, except in a test's
    transaction, which does not allow it."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE" if connection.in_atomic_block else "VACUUM ANALYZE")
