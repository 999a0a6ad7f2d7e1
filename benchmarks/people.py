"""Many people at work at the same time: how long they wait, and whether the pace is kept.

Both sites run as in production, with gunicorn and a process for each processor, beside the
reconciler and their own PostgreSQL server. Each simulated person accepts a HIT, opens the task
page, thinks, posts a caption, submits it, and takes the next HIT. Their browsers run on the same
machine, so they take a part of its processors, which is printed too.
"""

import argparse
import os
import random
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import TypeVar

from benchmarks.busy_crowd import Writers, at_work
from benchmarks.crowds import read_captions
from benchmarks.harness import Line, Report, main, ratio
from benchmarks.lean_browser import (
    LeanBrowser,
    NoAnswer,
    NothingLeft,
    NotOffered,
    TaskPage,
    Unexpected,
)
from benchmarks.replay_nocaps import SECTIONS, UNPROCESSABLE, WANTED
from benchmarks.whole_campaign import NAME, POSTGRESQL, RECONCILER, installed, run_measured

PEOPLE, FULL_PEOPLE = 200, 1_000
MINUTES, FULL_MINUTES = 2, 10
# nocaps' $0.10 a caption is $6 an hour for who needs a minute.
PAUSE = 60.0
TASK_PAGE = "task page"
MOST_MS, MOST_LAG = 150.0, 1.1
# After somebody was offered nothing, or got no answer.
REST = 5.0
Result = TypeVar("Result")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--people", type=int, help=f"(default: {PEOPLE}, --full: {FULL_PEOPLE})")
    parser.add_argument(
        "--minutes", type=int, help=f"measured (default: {MINUTES}, --full: {FULL_MINUTES})"
    )
    parser.add_argument(
        "--pause", type=float, default=PAUSE, help="mean seconds to think (default: %(default)g)"
    )


class People:
    """Lets everybody work, each in a thread, until `is_over` is set."""

    def __init__(self, writers: Writers, pause: float) -> None:
        self.writers, self.pause = writers, pause
        self.is_over = threading.Event()
        # Of each request, the moment of its answer and its seconds.
        self.waits: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.errors: Counter[str] = Counter()
        self._lock = threading.Lock()

    def work(self, number: int, browser: LeanBrowser) -> None:
        rng = random.Random(number)
        self.is_over.wait(rng.uniform(0, self.pause))
        has_browsed = False
        while not self.is_over.is_set():
            try:
                if not has_browsed:
                    browser.browse()
                    has_browsed = True
                self._caption(browser, rng)
            except (NoAnswer, NotOffered, NothingLeft, Unexpected) as error:
                with self._lock:
                    self.errors[f"{type(error).__name__} {error}"[:60]] += 1
                self.is_over.wait(REST)

    def _caption(self, browser: LeanBrowser, rng: random.Random) -> None:
        frame = self._timed("accept", browser.accept)
        page = self._timed(TASK_PAGE, lambda: browser.open(frame))
        if self.is_over.wait(rng.uniform(0.5, 1.5) * self.pause):
            return
        fields = self._timed("post the caption", lambda: self._store(browser, page))
        self._timed("submit", lambda: browser.submit(page, fields))

    def _store(self, browser: LeanBrowser, page: TaskPage) -> dict[str, str]:
        """Post a caption; another one if the page finds it too short."""
        try:
            return browser.store(page, self.writers.write_well(page.image))
        except Unexpected as error:
            if error.status != UNPROCESSABLE:
                raise
            return browser.store(page, self.writers.write_well(page.image))

    def _timed(self, name: str, action: Callable[[], Result]) -> Result:
        began = time.monotonic()
        result = action()
        ended = time.monotonic()
        with self._lock:
            self.waits[name].append((ended, ended - began))
        return result


def measure(chosen: argparse.Namespace) -> Report:
    count = chosen.people or (FULL_PEOPLE if chosen.full else PEOPLE)
    seconds = 60 * (chosen.minutes or (FULL_MINUTES if chosen.full else MINUTES))
    # Everybody has come, and has written a caption, before it is measured.
    captions = round(count * (seconds / chosen.pause + 3))
    with tempfile.TemporaryDirectory(prefix="people-") as folder:
        Path(folder).chmod(0o755)
        processes = os.cpu_count() or 1
        with installed(Path(folder), web_processes=processes) as whole:
            whole.prepare_images(captions // WANTED + count // 10)
            whole.create_campaign(NAME, budget=f"{captions * 0.3 + 100:.2f}", sections=SECTIONS)
            run_measured(whole, "publish", ["publish", NAME])
            browsers = whole.browsers(count)
            whole.fleet.start(RECONCILER)
            people = People(Writers(read_captions("nocaps"), seed=1), chosen.pause)
            loops = [partial(people.work, *work) for work in enumerate(browsers)]
            with at_work(loops, people.is_over):
                time.sleep(2 * chosen.pause)
                began, used, own = time.monotonic(), whole.fleet.seconds(), time.process_time()
                database = whole.postgresql.seconds() if whole.postgresql else 0.0
                time.sleep(seconds)
                ended = time.monotonic()
                shares = {
                    name: (after - used.get(name, 0.0)) / seconds
                    for name, after in whole.fleet.seconds().items()
                }
                if whole.postgresql:
                    shares[POSTGRESQL] = (whole.postgresql.seconds() - database) / seconds
                shares["browsers"] = (time.process_time() - own) / seconds
            # The invariants hold once the last answers are read.
            whole.fleet.kill(RECONCILER)
            whole.manage("sync", NAME)
            broken = whole.broken()
    return _report(people, count, (began, ended), shares, broken)


def _report(
    people: People,
    count: int,
    period: tuple[float, float],
    shares: dict[str, float],
    broken: list[str],
) -> Report:
    began, ended = period
    report = Report(database=POSTGRESQL)
    waits = {
        name: [wait for at, wait in rows if began <= at < ended]
        for name, rows in people.waits.items()
    }
    for name, times in waits.items():
        cuts = [1000 * cut for cut in quantiles(times, n=100)]
        aim = (f"{MOST_MS:g} ms", ratio(cuts[98], MOST_MS), 1.0) if name == TASK_PAGE else ()
        figure = f"half within {cuts[49]:.0f} ms, 99% within {cuts[98]:.0f} ms"
        report.lines.append(Line(name, figure, *aim))
        report.figures[name] = {"p50_ms": round(cuts[49], 1), "p99_ms": round(cuts[98], 1)}
    minutes = Counter(int((at - began) // 60) for at, _ in people.waits["submit"])
    slowest = min(minutes[number] for number in range(round((ended - began) / 60)))
    planned = 60 * count / people.pause
    errors = sum(people.errors.values())
    report.lines += [
        Line(
            "captions in the slowest minute",
            f"{slowest}",
            f"{planned:.0f} planned",
            ratio(planned, slowest),
            MOST_LAG,
        ),
        Line("requests that failed", f"{errors}", "none", float(errors), 0),
        *(Line(f"{number} times: {what}", "") for what, number in people.errors.most_common(5)),
        Line("broken invariants", f"{len(broken)}", "none", float(len(broken)), 0),
        *(Line(f"BROKEN: {line}", "") for line in broken),
        *(Line(f"{name}, processors", f"{share:.2f}") for name, share in shares.items()),
    ]
    report.figures |= {
        "people": count,
        "captions": len(waits["submit"]),
        "slowest_minute": slowest,
        "errors": dict(people.errors),
        "broken_invariants": broken,
        "processors": {name: round(share, 2) for name, share in shares.items()},
    }
    return report


if __name__ == "__main__":
    main(measure, name="people", description=__doc__, options=options)
