"""The longest wait among eight workers who accept and submit at the same time.

The workers' browsers run in threads of this process, without a network. Each round runs twice, in
equal databases: with the product's queue of writers (`marketplace.sqlite`), and with SQLite's own
waiting. On PostgreSQL, which queues writers itself, it runs once.
"""

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from statistics import median
from time import perf_counter
from unittest import mock

from django.conf import settings
from django.db import connection, connections

from benchmarks.harness import Line, Report, main, ratio, scratch_database, use
from benchmarks.marketplace_site import (
    Browser,
    Watch,
    fill,
    make_hit_type,
    make_requester,
    make_workers,
    settle_down,
)
from marketplace.models import HitType, Worker

WORKERS = 8
# Assignments of each worker per round, and rounds.
SHORT, FULL = (10, 3), (25, 10)
HITS, PLACES = 400, 9
# The largest acceptable ratio of the slowest request to the median.
AIM = 10.0


class NoTurns:
    """A replacement of `Turns` without a queue."""

    def take(self, _timeout: float) -> bool:
        return True

    def give_up(self) -> None:
        pass


@contextmanager
def _without_turns() -> Iterator[None]:
    with mock.patch("marketplace.sqlite.base.turns_at", return_value=NoTurns()):
        yield


def measure(options: argparse.Namespace) -> Report:
    each, rounds = FULL if options.full else SHORT
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    ways: dict[str, Callable[[], AbstractContextManager[None]]] = {"in turn": nullcontext}
    if connection.vendor == "sqlite":
        ways["SQLite's way"] = _without_turns
    times: dict[str, list[float]] = {way: [] for way in ways}
    with ExitStack() as stack:
        databases = {way: stack.enter_context(scratch_database()) for way in ways}
        for database in databases.values():
            use(database)
            _set_the_scene()
        for _ in range(rounds):
            for way, manner in ways.items():
                use(databases[way])
                with manner():
                    times[way] += _rush(each)
    return _report(times)


def _set_the_scene() -> None:
    fill(make_hit_type(make_requester(0)), hits=HITS, places=PLACES)
    make_workers(WORKERS, name="worker")
    settle_down()


def _rush(each: int) -> list[float]:
    """The seconds of each accept and each submission, by all workers at the same time."""
    hit_type = HitType.objects.get()
    workers = list(Worker.objects.all())
    connections.close_all()
    with ThreadPoolExecutor(len(workers)) as pool:
        lists = pool.map(lambda worker: _work(worker, hit_type, each), workers)
        return [time for times in lists for time in times]


def _work(worker: Worker, hit_type: HitType, each: int) -> list[float]:
    try:
        browser = Browser(worker, Watch())
        times: list[float] = []
        for _ in range(each):
            began = perf_counter()
            page = browser.accept(hit_type)
            accepted = perf_counter()
            browser.submit(page)
            times += [accepted - began, perf_counter() - accepted]
        return times
    finally:
        connections.close_all()


def _report(times: dict[str, list[float]]) -> Report:
    report = Report(figures={"workers": WORKERS, "requests": len(times["in turn"])})
    for way, found in times.items():
        usual, worst = median(found), max(found)
        report.lines.append(
            Line(
                f"slowest of {len(found)} requests, {way}",
                f"{worst:.2f} s",
                f"{usual:.2f} s median",
                ratio(worst, usual),
                AIM if way == "in turn" else None,
            )
        )
        report.figures[way] = {"median_s": round(usual, 4), "slowest_s": round(worst, 4)}
    return report


if __name__ == "__main__":
    main(measure, name="marketplace_rush", description=__doc__)
