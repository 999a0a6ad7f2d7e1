"""Many people at work at the same time: how long a task page takes to open.

Both sites and the reconciler run as processes on a PostgreSQL server of their own, the sites by
gunicorn with several processes, as in production. Each simulated person accepts a HIT, opens its
task page, thinks for 20 seconds, submits a caption, and starts again. The people start one after
the other during the first 20 seconds, which are not measured.

The browsers and the sites share the machine; the report shows what each process used of it. If the
browsers fall behind their schedule, the load is lower than it should be; the report shows by how
much.
"""

import argparse
import heapq
import itertools
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from os import getloadavg
from pathlib import Path
from statistics import quantiles

from benchmarks.harness import Line, Report, main, ratio
from benchmarks.lean_browser import LeanBrowser, NoAnswer, NothingLeft, NotOffered, Unexpected
from benchmarks.whole_campaign import NAME, POSTGRESQL, RECONCILER, Whole, installed

PEOPLE, FULL_PEOPLE = 50, 1000
SECONDS, FULL_SECONDS = 40.0, 120.0
THINKS = 20.0
THREADS = 32
WEB_PROCESSES = 2
MOST_P99 = 0.150
CAPTIONS_OF_AN_IMAGE = 11
SECTIONS = """
[review]
share = 0
first = 0
approve_after_hours = 24
"""
TEXT = "Two children with red umbrellas wait beside an old stone bridge."


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--people", type=int, help=f"people at work (default: {PEOPLE})")
    parser.add_argument("--seconds", type=float, help=f"duration (default: {SECONDS:g})")
    parser.add_argument(
        "--web-processes",
        type=int,
        default=WEB_PROCESSES,
        help=f"processes of each site; 0: the embedded server (default: {WEB_PROCESSES})",
    )


def measure(chosen: argparse.Namespace) -> Report:
    people = chosen.people or (FULL_PEOPLE if chosen.full else PEOPLE)
    seconds = chosen.seconds or (FULL_SECONDS if chosen.full else SECONDS)
    processes: int = chosen.web_processes
    settings = {"MTURK_LIST_SECONDS": "120"}
    with tempfile.TemporaryDirectory(prefix="load-") as folder:
        Path(folder).chmod(0o755)
        with installed(Path(folder), web_processes=processes, settings=settings) as whole:
            crowd = People(_browsers(whole, people, seconds))
            others = getloadavg()[0]
            before = _processor_seconds(whole)
            crowd.work(seconds)
            after = _processor_seconds(whole)
    used = {name: round((after[name] - before.get(name, 0)) / seconds, 2) for name in after}
    return _report(crowd, people, seconds, used, others)


def _processor_seconds(whole: Whole) -> dict[str, float]:
    """What each process has used of the processor so far; the browsers are in this one."""
    used = whole.fleet.seconds() | {"browsers": time.process_time()}
    if whole.postgresql is not None:
        used[POSTGRESQL] = whole.postgresql.seconds()
    return used


def _browsers(whole: Whole, people: int, seconds: float) -> list[LeanBrowser]:
    """Publish a campaign that is large enough, and sign the people in."""
    captions = people * (seconds / THINKS + 3)
    images = round(2 * captions / CAPTIONS_OF_AN_IMAGE) + 20
    whole.prepare_images(images)
    whole.create_campaign(NAME, budget="99999.00", sections=SECTIONS)
    whole.manage("publish", NAME)
    whole.fleet.start(RECONCILER)
    browsers = whole.browsers(people)
    for browser in browsers:
        browser.browse()
    return browsers


@dataclass
class People:
    """The people's next steps by time, and how long their requests took."""

    browsers: list[LeanBrowser]
    opened: list[float] = field(default_factory=list)
    submitted: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)

    def work(self, seconds: float) -> None:
        """Work for so long; the first steps are spread over the time for thinking."""
        self._numbers = itertools.count()
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._changed = threading.Condition()
        began = time.monotonic()
        self.measured_from, self.end = began + THINKS, began + seconds
        for number, browser in enumerate(self.browsers):
            self._plan(began + THINKS * number / len(self.browsers), self._opening(browser))
        threads = [threading.Thread(target=self._run) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _plan(self, at: float, step: Callable[[], None]) -> None:
        with self._changed:
            heapq.heappush(self._due, (at, next(self._numbers), step))
            self._changed.notify()

    def _run(self) -> None:
        while (due := self._next()) is not None:
            at, step = due
            self._note(self.late, time.monotonic() - at)
            try:
                step()
            except (NoAnswer, NotOffered, NothingLeft, Unexpected) as error:
                with self._changed:
                    self.errors[f"{type(error).__name__}: {error}"[:200]] += 1

    def _next(self) -> tuple[float, Callable[[], None]] | None:
        """The next step once it is due; None at the end."""
        with self._changed:
            while (now := time.monotonic()) < self.end:
                if self._due and self._due[0][0] <= now:
                    at, _, step = heapq.heappop(self._due)
                    return at, step
                until = self._due[0][0] if self._due else self.end
                self._changed.wait(max(0.001, min(until, self.end) - now))
            return None

    def _note(self, times: list[float], taken: float) -> None:
        if time.monotonic() >= self.measured_from:
            times.append(taken)

    def _opening(self, browser: LeanBrowser) -> Callable[[], None]:
        def open_page() -> None:
            frame = browser.accept()
            began = time.monotonic()
            page = browser.open(frame)
            self._note(self.opened, time.monotonic() - began)

            def submit() -> None:
                began = time.monotonic()
                browser.send(page, TEXT)
                self._note(self.submitted, time.monotonic() - began)
                self._plan(time.monotonic(), open_page)

            self._plan(time.monotonic() + THINKS, submit)

        return open_page


def _report(
    crowd: People, people: int, seconds: float, used: dict[str, float], others: float
) -> Report:
    p50, p99 = _percentiles(crowd.opened)
    sent50, sent99 = _percentiles(crowd.submitted)
    behind = _percentiles(crowd.late)[1]
    errors = sum(crowd.errors.values())
    rate = len(crowd.submitted) / (seconds - THINKS)
    figures = {
        "people": people,
        "seconds": seconds,
        "captions_per_second": round(rate, 1),
        "page_p50_ms": round(1000 * p50, 1),
        "page_p99_ms": round(1000 * p99, 1),
        "submission_p50_ms": round(1000 * sent50, 1),
        "submission_p99_ms": round(1000 * sent99, 1),
        "behind_p99_ms": round(1000 * behind, 1),
        "errors": dict(crowd.errors.most_common(5)),
        "processors_used": used,
        "load_before": round(others, 1),
    }
    lines = [
        Line(f"{people} people, captions a second", f"{rate:.1f}", f"{people / THINKS:.1f}"),
        Line(
            "task page, p99",
            f"{1000 * p99:.0f} ms (p50 {1000 * p50:.0f} ms)",
            f"{1000 * MOST_P99:.0f} ms",
            ratio(p99, MOST_P99),
            1,
        ),
        Line("submission to both sites, p99", f"{1000 * sent99:.0f} ms"),
        Line("browsers behind their schedule, p99", f"{1000 * behind:.0f} ms"),
        Line("errors", f"{errors}", "none", float(errors), 0),
        *(Line(f"{name}, share of a processor", f"{share:.2f}") for name, share in used.items()),
        Line("load of the machine before the start", f"{others:.1f}"),
    ]
    return Report(lines, figures, POSTGRESQL)


def _percentiles(times: list[float]) -> tuple[float, float]:
    """The median and the 99th percentile; zero without times."""
    if len(times) < 2:
        return 0.0, 0.0
    found = quantiles(times, n=100)
    return found[49], found[98]


if __name__ == "__main__":
    main(measure, name="load", description=__doc__, options=options)
