"""Claim time with 1,000 and with 100,000 tasks: a claim must not grow with its campaign.

Each size has a database of its own, and they take turns. Measured are new workers, one who has
done the 500 tasks that come first, new workers near the campaign's end, and those for whom nothing
is left.
"""

import argparse
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial

from annotate.models import Campaign, Worker
from annotate.services.claims import NothingToDo, claim_tasks
from benchmarks.campaigns import (
    AT,
    LEASE,
    add_captions,
    make_campaign,
    make_workers,
    settle_down,
)
from benchmarks.harness import (
    Line,
    Report,
    in_turn,
    main,
    milliseconds,
    ratio,
    scratch_database,
    seconds,
    use,
)

SIZES = (1_000, 100_000)
AIM = 1.5
ROUNDS, CLAIMS = 12, 25
DONE = 500
NAME = "claims"


def measure(options: argparse.Namespace) -> Report:
    with ExitStack() as stack:
        databases = [stack.enter_context(scratch_database()) for _ in SIZES]
        practised = {}
        for database, size in zip(databases, SIZES, strict=True):
            use(database)
            practised[database] = _set_the_scene(size)
        report = Report(figures={"sizes": list(SIZES)})

        def compare(key: str, what: str, workers: Callable[[str], list[Worker]]) -> None:
            times = in_turn(databases, lambda database: _claim(workers(database)), rounds=ROUNDS)
            small, large = (round(milliseconds(times[database]), 3) for database in databases)
            _add(report, key, what, small, large)

        def newcomers(database: str) -> list[Worker]:
            return make_workers(CLAIMS)

        in_turn(databases, lambda database: _claim(newcomers(database)), rounds=1)
        compare("new_worker", "a new worker", newcomers)
        compare(
            "practised_worker",
            f"a worker who has done {DONE}",
            lambda database: [practised[database]] * (CLAIMS // 2),
        )
        in_turn(databases, lambda _: _fill_up(open_tasks=60), rounds=1)
        compare("near_the_end", "a new worker near the end", newcomers)
        in_turn(databases, lambda _: _fill_up(open_tasks=0), rounds=1)
        compare("nothing_left", "nothing left", newcomers)
    return report


def _set_the_scene(size: int) -> Worker:
    """A campaign in which every tenth place is taken; the worker who did the tasks that are first
    in line all the same, so that each of their claims meets all of them."""
    campaign = make_campaign(name=NAME, images=size)
    add_captions(campaign, make_workers(200), each=1)
    (practised,) = make_workers(1)
    add_captions(campaign, [practised], each=1, tasks=DONE)
    campaign.tasks.update(places_left=campaign.config.wanted - 1)
    settle_down()
    return practised


def _claim(workers: list[Worker]) -> list[float]:
    """The time that each worker's claim takes, in seconds."""
    campaign = Campaign.objects.get(slug=NAME)

    def claim(worker: Worker) -> None:
        with suppress(NothingToDo):
            claim_tasks(campaign=campaign, worker=worker, count=1, at=AT, expires_at=AT + LEASE)

    return [seconds(partial(claim, worker)) for worker in workers]


def _fill_up(*, open_tasks: int) -> list[float]:
    """Take the places of all tasks but some, evenly spread, which keep ten each."""
    campaign = Campaign.objects.get(slug=NAME)
    campaign.tasks.update(places_left=0)
    if open_tasks:
        step = campaign.tasks.count() // open_tasks
        chosen = range(1, step * open_tasks, step)
        campaign.tasks.filter(number__in=chosen).update(places_left=10)
    settle_down()
    return []


def _add(report: Report, key: str, what: str, small: float, large: float) -> None:
    growth = ratio(large, small)
    report.lines.append(
        Line(
            f"claim, {what}",
            f"{large:.2f} ms with {SIZES[1]:,} tasks",
            f"{small:.2f} ms with {SIZES[0]:,}",
            growth,
            AIM,
        )
    )
    report.figures[key] = {"small_ms": small, "large_ms": large, "growth": growth}


if __name__ == "__main__":
    main(measure, name="claims", description=__doc__)
