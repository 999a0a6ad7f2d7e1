"""The cost of one caption: database statements and processor time of all processes.

The requester's site, the marketplace and the reconciler run as processes, with a campaign of two
sizes. Simulated browsers accept HITs, open the task pages, post captions and submit them, over
HTTP; their own time does not count. Then the reconciler reads the submissions, judges some, pays
them, and freezes and exports a release of another, complete campaign of the same size.

Times are processor time, so other load on the machine matters little. They include PostgreSQL's
own processes. SQLite is measured always, and PostgreSQL, on a server that is started for it, if
DATABASE_URL names one.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connection

from benchmarks import counted
from benchmarks.campaigns import BUDGET
from benchmarks.caption_cost_steps import SLOTS
from benchmarks.fleet import family_seconds
from benchmarks.harness import ROOT, Line, Report, main, ratio
from benchmarks.lean_browser import LeanBrowser, TaskPage
from benchmarks.whole_campaign import MARKETPLACE, RECONCILER, SITE, Whole, counts_of, installed
from hits.local import REQUESTER, Child, ProcessFailed, clean_environment

DATABASE = "database"


@dataclass(frozen=True)
class Cost:
    """Processor seconds by process, and statements of all processes."""

    seconds: Mapping[str, float]
    statements: int

    def __sub__(self, earlier: "Cost") -> "Cost":
        seconds = {name: used - earlier.seconds[name] for name, used in self.seconds.items()}
        return Cost(seconds, self.statements - earlier.statements)


@dataclass
class Processes:
    """The running processes."""

    whole: Whole
    reconciler: "subprocess.Popen[str]"

    def cost(self) -> Cost:
        """The processes' use so far. SQLite works inside them."""
        server, folder = self.whole.postgresql, self.whole.places.folder
        seconds = {
            **self.whole.fleet.seconds(),
            RECONCILER: family_seconds(self.reconciler.pid),
            DATABASE: server.seconds() if server else 0.0,
        }
        names = (MARKETPLACE, SITE, RECONCILER)
        return Cost(seconds, sum(counted.read(counts_of(folder, name)) for name in names))

    def ask(self, step: str, **arguments: Any) -> dict[str, Any]:
        """Let the reconciler run a step, and wait for its answer."""
        assert self.reconciler.stdin is not None
        assert self.reconciler.stdout is not None
        self.reconciler.stdin.write(json.dumps({"step": step, **arguments}) + "\n")
        self.reconciler.stdin.flush()
        line = self.reconciler.stdout.readline()
        if not line:
            raise ProcessFailed(self.whole.fleet.logs())
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def running(vendor: str) -> Iterator[Processes]:
    """Run both sites and the reconciler on new databases of this vendor."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        Path(folder).chmod(0o755)
        on_sqlite = vendor == "sqlite"
        with installed(Path(folder), on_sqlite=on_sqlite, counts_statements=True) as whole:
            log = whole.places.folder / f"{RECONCILER}.log"
            counts = str(counts_of(whole.places.folder, RECONCILER))
            with log.open("ab") as stream:
                process = subprocess.Popen(
                    [sys.executable, "-m", "benchmarks.caption_cost_steps", counts],
                    env=clean_environment(whole.environment),
                    cwd=ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stream,
                    text=True,
                    process_group=0,
                )
            with process:
                try:
                    yield Processes(whole, process)
                finally:
                    Child(RECONCILER, process, log).stop()


def spent(processes: Processes, action: Callable[[], Any]) -> tuple[Cost, Any]:
    """The processes' cost of an action, and its result."""
    before = processes.cost()
    result = action()
    return processes.cost() - before, result


# Tasks of the two campaigns, and captions of each of nine workers.
SHORT, FULL = ((100, 1_000), 6), ((1_000, 10_000), 20)
WARM_UP = 2  # captions of each worker before the measurement
MOST_MILLISECONDS, MOST_OF_A_SIDE, MOST_GROWTH = 30.0, 15.0, 1.2
# A worker finds the group and previews it once per this many captions.
CAPTIONS_PER_VISIT = 25
# Share of the captions that a reviewer judges.
CHECKED = 0.1
# How often all HITs are listed during a campaign. Between lists, events name the HITs to read.
LISTS = 10
# Captions between two syncs, for the steps that do not depend on the captions.
CAPTIONS_PER_SYNC = 100
CHECKS = 10


@dataclass(frozen=True)
class Part:
    """The cost of one caption in one part: statements, and milliseconds by process."""

    statements: float
    milliseconds: Mapping[str, float]

    @property
    def total_ms(self) -> float:
        return sum(self.milliseconds.values())

    def as_figures(self) -> dict[str, Any]:
        by_process = {name: round(ms, 3) for name, ms in self.milliseconds.items() if ms}
        return {
            "statements": round(self.statements, 2),
            "ms": round(self.total_ms, 3),
            "by_process": by_process,
        }


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--database", choices=["sqlite", "postgresql"], help="measure this database only"
    )


def measure(options: argparse.Namespace) -> Report:
    sizes, each = FULL if options.full else SHORT
    vendors = [options.database] if options.database else sorted({"sqlite", connection.vendor})
    report = Report(figures={"sizes": list(sizes), "captions": each * SLOTS})
    for vendor in reversed(vendors):
        measured = {}
        for size in sizes:
            with running(vendor) as processes:
                measured[size] = Measurement(processes, size, each).take()
        _add(report, vendor, measured)
    report.figures["total_ms"] = max(report.figures[vendor]["total_ms"] for vendor in vendors)
    return report


def _add(report: Report, vendor: str, measured: Mapping[int, Mapping[str, Part]]) -> None:
    small, large = measured.values()
    few, many = measured
    for name, part in large.items():
        report.lines.append(
            Line(
                f"{vendor}: {name}",
                f"{part.statements:.2f} statements, {part.total_ms:.2f} ms",
                f"{few:,} tasks: {small[name].statements:.2f}, {small[name].total_ms:.2f} ms",
            )
        )
    totals = {
        size: sum(part.total_ms for part in parts.values()) for size, parts in measured.items()
    }
    # SQLite works inside the sites' processes. PostgreSQL's time is shown apart.
    sides = {
        "marketplace": _time_of(large, MARKETPLACE),
        "requester's side": _time_of(large, SITE, RECONCILER),
    }
    total = totals[many]
    report.lines += [
        Line(f"{vendor}: {side}", f"{ms:.1f} ms", f"{MOST_OF_A_SIDE:g} ms", ms / MOST_OF_A_SIDE, 1)
        for side, ms in sides.items()
    ]
    report.lines += [
        Line(
            f"{vendor}: a caption with {many:,} tasks",
            f"{total:.1f} ms",
            f"{MOST_MILLISECONDS:g} ms",
            ratio(total, MOST_MILLISECONDS),
            1,
        ),
        Line(
            f"{vendor}: growth",
            f"{total:.1f} ms",
            f"{few:,} tasks: {totals[few]:.1f} ms",
            ratio(total, totals[few]),
            MOST_GROWTH,
        ),
    ]
    report.figures[vendor] = {
        "parts": {
            size: {name: part.as_figures() for name, part in parts.items()}
            for size, parts in measured.items()
        },
        "total_ms": round(total, 2),
        "marketplace_ms": round(sides["marketplace"], 2),
        "requester_ms": round(sides["requester's side"], 2),
        "database_ms": round(_time_of(large, DATABASE), 2),
        "growth": ratio(total, totals[few]),
    }


def _time_of(parts: Mapping[str, Part], *processes: str) -> float:
    return sum(
        part.milliseconds.get(process, 0.0) for part in parts.values() for process in processes
    )


class Measurement:
    """One campaign in running processes, and what its captions cost in each part."""

    def __init__(self, processes: Processes, size: int, each: int) -> None:
        self.processes = processes
        self.size, self.each = size, each
        self.parts: dict[str, Part] = {}
        self.rng = random.Random(size)

    def take(self) -> dict[str, Part]:
        """Publish the campaign, and measure all parts after a warm-up."""
        processes = self.processes
        # A large campaign costs more than a new requester has.
        processes.whole.manage("marketplace_requester", REQUESTER, "--balance", BUDGET)
        self.hits = processes.ask("publish", images=self.size)["hits"]
        self.browsers = processes.whole.browsers(SLOTS)
        self._work(WARM_UP)
        self._sync(self.hits[:WARM_UP])
        self.parts = {}
        self._work(self.each)
        self._sync(self.hits[WARM_UP : WARM_UP + self.each])
        self._measure("release", _step(processes, "release"))
        self._measure("export", _step(processes, "export"))
        return self.parts

    def _work(self, each: int) -> None:
        browsers, captions = self.browsers, each * SLOTS

        def browse() -> int:
            for browser in browsers:
                browser.browse()
            return SLOTS * CAPTIONS_PER_VISIT

        frames: list[tuple[LeanBrowser, str]] = []
        pages: list[tuple[LeanBrowser, TaskPage]] = []
        posted: list[tuple[LeanBrowser, TaskPage, dict[str, str]]] = []

        def accept() -> int:
            frames.extend((browser, browser.accept()) for _ in range(each) for browser in browsers)
            return captions

        def open_pages() -> int:
            pages.extend((browser, browser.open(frame)) for browser, frame in frames)
            return captions

        def post() -> int:
            posted.extend(
                (browser, page, browser.store(page, self._caption())) for browser, page in pages
            )
            return captions

        def submit() -> int:
            for browser, page, fields in posted:
                browser.submit(page, fields)
            return captions

        self._measure("browse", browse)
        self._measure("accept", accept)
        self._measure("open", open_pages)
        self._measure("post", post)
        self._measure("submit", submit)

    def _sync(self, hits: list[str]) -> None:
        """Read the submissions of these HITs, judge some of them and pay them."""
        processes = self.processes
        cost, answer = spent(processes, lambda: processes.ask("ingest", hits=hits))
        captions = answer["done"]
        assert captions == len(hits) * SLOTS, answer
        whole = _part(cost, captions)
        flags = 1000 * answer["flag_seconds"] / captions
        in_flags = answer["flag_statements"] / captions
        of_others = {**whole.milliseconds, RECONCILER: whole.milliseconds[RECONCILER] - flags}
        self.parts["ingest"] = Part(whole.statements - in_flags, of_others)
        self.parts["flags"] = Part(in_flags, {RECONCILER: flags})
        self._measure("list", _step(processes, "list_all"), weight=LISTS / SLOTS)
        self._measure("check", _step(processes, "check", count=CHECKS), weight=CHECKED)
        self._measure("approve", _step(processes, "approve"))
        self._measure("rest of a sync", _step(processes, "rest"), weight=1 / CAPTIONS_PER_SYNC)

    def _measure(self, name: str, action: Callable[[], int], *, weight: float = 1.0) -> None:
        """Add a part. The action returns how often it did what is needed `weight` times for a
        caption."""
        cost, times = spent(self.processes, action)
        self.parts[name] = _part(cost, times / weight)

    def _caption(self) -> str:
        pick = self.rng.choice
        return (
            f"A {pick(COLOURS)} {pick(THINGS)} and a {pick(COLOURS)} {pick(THINGS)} stand "
            f"{pick(WHERE)} a {pick(COLOURS)} {pick(THINGS)}."
        )


COLOURS = ("red", "blue", "small", "large", "white", "old", "wooden", "green", "shiny", "dark")
THINGS = ("dog", "bus", "boat", "horse", "kite", "clock", "train", "couch", "table", "bridge")
WHERE = ("beside", "behind", "in front of", "near", "next to", "on", "under")


def _step(processes: Processes, step: str, **arguments: Any) -> Callable[[], int]:
    """An action that lets the reconciler run a step; it returns how often the step did its work."""

    def run() -> int:
        return int(processes.ask(step, **arguments)["done"])

    return run


def _part(cost: Cost, captions: float) -> Part:
    return Part(
        cost.statements / captions,
        {name: 1000 * seconds / captions for name, seconds in cost.seconds.items()},
    )


if __name__ == "__main__":
    main(measure, name="caption_cost", description=__doc__, options=options)
