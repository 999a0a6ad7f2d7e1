"""Claim time with 1,000 and with 100,000 tasks, which must not grow.

It is measured for new workers, for a worker who has done the first 500 tasks, for new workers near
the campaign's end, and for workers without a task left.
"""

import argparse
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial

from django.utils.crypto import get_random_string

from annotate.models import Campaign, Worker
from benchmarks.campaigns import AT, add_captions, make_campaign, make_workers
from benchmarks.harness import Report, add_growth, both_sizes, in_turn, main, seconds, settle_down
from hits.models import Claim, Hit, HitType, TaskPage
from hits.services.claims import NothingToDo, claim_tasks

ROUNDS, CLAIMS = 12, 25
DONE = 500
NAME = "claims"


def measure(_options: argparse.Namespace) -> Report:
    report = Report()
    with both_sizes(_set_the_scene) as practised:
        databases = list(practised)

        def compare(key: str, what: str, workers: Callable[[str], list[Worker]]) -> None:
            times = in_turn(databases, lambda database: _claim(workers(database)), rounds=ROUNDS)
            add_growth(report, key, f"claim, {what}", times)

        def newcomers(_database: str) -> list[Worker]:
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
    missing = campaign.config.wanted - 1
    campaign.tasks.update(answers_missing=missing, places_left=missing)
    hit_type = HitType.objects.create(campaign=campaign, hit_type_id=NAME, created_at=AT)
    Hit.objects.create(
        campaign=campaign,
        hit_type=hit_type,
        token=NAME,
        slots=1,
        reward="0.10",
        fee="0.02",
        planned_at=AT,
    )
    settle_down()
    return practised


def _claim(workers: list[Worker]) -> list[float]:
    """The seconds of each worker's claim."""
    campaign = Campaign.objects.get(slug=NAME)

    def claim(worker: Worker) -> None:
        page = next(pages)
        with suppress(NothingToDo):
            claim_tasks(campaign=campaign, worker=worker, page=page, count=1)

    pages = iter(_new_pages(campaign.hits.get(), len(workers)))
    return [seconds(partial(claim, worker)) for worker in workers]


def _new_pages(hit: Hit, count: int) -> list[TaskPage]:
    return TaskPage.objects.bulk_create(
        TaskPage(
            hit=hit,
            assignment_id=f"ASSIGNMENT{number}",
            marketplace_id=get_random_string(20),
            opened_at=AT,
            expires_at=AT + timedelta(minutes=25),
        )
        for number in range(count)
    )


def _fill_up(*, open_tasks: int) -> list[float]:
    """Take the places of all tasks but some, evenly spread, which keep ten each."""
    campaign = Campaign.objects.get(slug=NAME)
    Claim.objects.all().delete()
    campaign.tasks.update(answers_missing=0, places_left=0)
    if open_tasks:
        step = campaign.tasks.count() // open_tasks
        chosen = range(1, step * open_tasks, step)
        campaign.tasks.filter(number__in=chosen).update(answers_missing=10, places_left=10)
    settle_down()
    return []


if __name__ == "__main__":
    main(measure, name="claims", description=__doc__)
