"""The time to exclude and reinstate a worker, per response, with 500 and with 5,000 responses.

Both workers have responses in the same campaign of nocaps' size, and alternate. For each, the
benchmark computes the preview, excludes the worker with all responses, reinstates, and does both
again with the responses since the first bad one.

The limit is for elapsed time, because a web request waits for it. It may be missed on a busy
machine. Processor time is also shown; on SQLite it includes the database, on PostgreSQL it does
not.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from time import process_time
from typing import Any

from django.db import connection

from annotate.models import Campaign, Response, Worker
from benchmarks.campaigns import (
    AT,
    add_assessments,
    add_captions,
    make_campaign,
    make_workers,
    settle_down,
)
from benchmarks.harness import (
    Line,
    Report,
    main,
    milliseconds,
    ratio,
    scratch_database,
    seconds,
)
from qualcontrol.models import SpotCheck, Verdict
from qualcontrol.services.exclusions import exclude_worker, exclusion_preview, reinstate_worker

IMAGES, WANTED, WORKERS = 15_100, 11, 727  # as in nocaps (Agrawal et al. 2019, section 3.1)
SIZES = (500, 5_000)
ROUNDS = 5
MOST_SECONDS, MOST_GROWTH = 1.0, 1.2
SLOT_COST = Decimal("0.12")


@dataclass
class Measured:
    """The measurements of one operation on one worker."""

    passed: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    queries: int = 0

    def add(self, action: Callable[[], object]) -> None:
        counter = Counter()
        began = process_time()
        with connection.execute_wrapper(counter):
            self.passed.append(seconds(action))
        self.processor.append(process_time() - began)
        self.queries = counter.queries


def measure(_options: argparse.Namespace) -> Report:
    with scratch_database():
        campaign, workers = _set_the_scene()
        found: dict[str, dict[int, Measured]] = {}
        for _ in range(ROUNDS):
            for size, worker in workers.items():
                for what, action in _acts(campaign, worker).items():
                    sizes = found.setdefault(what, {size: Measured() for size in SIZES})
                    sizes[size].add(action)
    report = Report(figures={"sizes": list(SIZES)})
    for what, sizes in found.items():
        _add(report, what, *(sizes[size] for size in SIZES))
    return report


class Counter:
    """Counts queries."""

    def __init__(self) -> None:
        self.queries = 0

    def __call__(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        self.queries += 1
        return execute(*arguments)


def _set_the_scene() -> tuple[Campaign, dict[int, Worker]]:
    """A campaign with nine captions of each image by others, and a worker of each size."""
    campaign = make_campaign(name="exclusion", images=IMAGES, wanted=WANTED)
    add_captions(campaign, make_workers(WORKERS), each=WANTED - len(SIZES))
    workers = dict(zip(SIZES, make_workers(len(SIZES)), strict=True))
    for size, worker in workers.items():
        add_captions(campaign, [worker], each=1, tasks=size)
    add_assessments(campaign)
    for size, worker in workers.items():
        _judge_bad(campaign, worker, place=size // 10)
    settle_down()
    return campaign, workers


def _judge_bad(campaign: Campaign, worker: Worker, *, place: int) -> None:
    """Record a bad verdict on the response at this position of the worker's work. It still
    counts."""
    bad = Response.objects.of(campaign).get(worker=worker, assessment__position=place)
    SpotCheck.objects.create(
        campaign=campaign,
        response=bad,
        drawn_at=AT,
        verdict=Verdict.BAD,
        reason="vague",
        judged_at=AT,
    )


def _acts(campaign: Campaign, worker: Worker) -> dict[str, Callable[[], object]]:
    """The measured operations, in order. The last one restores the initial state."""
    about: dict[str, Any] = {"worker": worker, "actor": None, "at": AT}
    since_bad = Campaign.objects.get(pk=campaign.pk)
    since_bad.config_json["review"]["discard"] = "since_first_bad"
    return {
        "preview": partial(
            exclusion_preview, campaign=campaign, worker=worker, slot_cost=SLOT_COST
        ),
        "exclude": partial(exclude_worker, campaign=campaign, reason="lists", **about),
        "reinstate": partial(reinstate_worker, campaign=campaign, reason="", **about),
        "exclude since the first bad one": partial(
            exclude_worker, campaign=since_bad, reason="lists", **about
        ),
        "reinstate after that": partial(reinstate_worker, campaign=since_bad, reason="", **about),
    }


def _add(report: Report, what: str, few: Measured, many: Measured) -> None:
    small, large = SIZES
    processor, passed = milliseconds(many.processor), milliseconds(many.passed)
    each, each_of_few = passed / large, milliseconds(few.passed) / small
    limit, growth = ratio(passed, 1000 * MOST_SECONDS), ratio(each, each_of_few)
    report.lines += [
        Line(
            f"{what}: {large:,} responses",
            f"{passed:.0f} ms, {many.queries} queries",
            f"{MOST_SECONDS:g} s",
            limit,
            1.0,
        ),
        Line("of this process's processor", f"{processor:.0f} ms"),
        Line(
            "each of them",
            f"{each:.3f} ms",
            f"of {small}: {each_of_few:.3f} ms, {few.queries} queries",
            growth,
            MOST_GROWTH,
        ),
    ]
    report.figures[what.replace(" ", "_")] = {
        "processor_ms": round(processor, 1),
        "passed_ms": round(passed, 1),
        "ms_each": round(each, 4),
        "ms_each_small": round(each_of_few, 4),
        "growth": growth,
        "queries": many.queries,
        "queries_small": few.queries,
    }


if __name__ == "__main__":
    main(measure, name="exclusion", description=__doc__)
