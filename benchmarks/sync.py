"""API calls and time per assignment that the reconciler ingests, against a marketplace in its own
process.

Four schedules of syncs are measured:

- once, after the workers have filled the HITs;
- after each twentieth of the work, as at regular intervals;
- the same with MTURK_READ_WAIT_SECONDS, which leaves a HIT unread until it is full;
- the same with MTURK_LIST_SECONDS in addition, so that only the last sync lists all HITs.

The first and the last have a limit: one call for each HIT of nine, and one listing. At regular
intervals alone, a HIT is read whenever its counts have changed and every sync lists all HITs, so
the calls grow with the number of syncs. Approving takes one call per assignment, and is shown
separately.
"""

import argparse
import os
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.utils import timezone

from annotate.models import Campaign
from benchmarks.campaigns import make_campaign
from benchmarks.harness import Line, Report, main, scratch_database, seconds
from hits.models import Assignment
from hits.mturk.client import Marketplace, marketplace_of
from hits.reconcile.events import is_listing_due
from hits.reconcile.reconciler import reconcile
from hits.services.claims import NothingToDo
from hits.services.hit_pages import FrameParameters
from hits.services.task_pages import open_page, store_answers
from tests.hits.marketplace_process import (
    Frame,
    MarketplaceProcess,
    NotOffered,
    WorkerSession,
    running_marketplace,
)

AIM = 0.13
INGESTING = ("ListHITs", "ListAssignmentsForHIT")
SIZES = {"short": (16, 9, 24), "full": (150, 11, 40)}  # images, captions of each, workers
# Syncs, the seconds that a HIT may stay unread, and the seconds between two listings.
WAYS = {
    "at_the_end": (1, 0, 0),
    "by_the_clock": (20, 0, 0),
    "by_the_clock_waiting": (20, 3600, 0),
    "by_the_clock_waiting_listing_once": (20, 3600, 36_000),
}
WITH_AIM = {"at_the_end", "by_the_clock_waiting_listing_once"}
TEXT = "Two children with red umbrellas wait beside an old stone bridge."


class Counting:
    """A marketplace client that counts its calls by operation."""

    def __init__(self, marketplace: Marketplace) -> None:
        self.marketplace = marketplace
        self.calls: Counter[str] = Counter()
        events = marketplace._client.meta.events
        events.register("before-call.mturk", self._count, unique_id="benchmark")

    def _count(self, model: Any, **_: Any) -> None:
        self.calls[model.name] += 1

    def stop(self) -> None:
        events = self.marketplace._client.meta.events
        events.unregister("before-call.mturk", unique_id="benchmark")


def measure(options: argparse.Namespace) -> Report:
    size = SIZES["full" if options.full else "short"]
    report = Report()
    with (
        tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
        running_marketplace(Path(folder)) as process,
        scratch_database(),
    ):
        for way, (syncs, wait, apart) in WAYS.items():
            settings.MTURK_READ_WAIT_SECONDS = wait
            settings.MTURK_LIST_SECONDS = apart
            _measure_way(report, process, way, syncs, *size)
    return report


def _measure_way(
    report: Report,
    process: MarketplaceProcess,
    way: str,
    syncs: int,
    images: int,
    captions: int,
    workers: int,
) -> None:
    talk_to(process, way)
    campaign = make_campaign(name=way.replace("_", "-"), images=images, wanted=captions)
    _approve_at_once(campaign)
    reconcile(campaign)
    crowd = [w.sign_in() for w in process.workers(*(f"{way}{n}" for n in range(workers)))]
    calls, taken = _run(campaign, crowd, images * captions, syncs)
    ingested = Assignment.objects.filter(hit__campaign=campaign).count()
    listing = sum(calls[name] for name in INGESTING) / ingested
    what = way.replace("_", " ")
    report.lines += [
        Line(
            f"{what}: calls to ingest, per assignment",
            f"{listing:.3f} ({calls['ListHITs']} + {calls['ListAssignmentsForHIT']})",
            f"{ingested} assignments, {syncs} synchronisations",
            round(listing, 4),
            AIM if way in WITH_AIM else None,
        ),
        Line(f"{what}: approvals", f"{calls['ApproveAssignment'] / ingested:.3f}"),
        Line(f"{what}: time, per assignment", f"{1000 * taken / ingested:.1f} ms"),
    ]
    report.figures[way] = {
        "assignments": ingested,
        "synchronisations": syncs,
        "ingest_calls_per_assignment": round(listing, 4),
        "calls": dict(calls),
        "ms_per_assignment": round(1000 * taken / ingested, 2),
    }


def talk_to(process: MarketplaceProcess, requester: str) -> None:
    keys = process.requester(requester)
    os.environ["AWS_ACCESS_KEY_ID"] = keys["access_key"]
    os.environ["AWS_SECRET_ACCESS_KEY"] = keys["secret_key"]
    settings.MARKETPLACE_URL, settings.MTURK_ENDPOINT = process.url, "local"


def _approve_at_once(campaign: Campaign) -> None:
    review = {**campaign.config_json["review"], "approve_after_hours": 0, "share": 0, "first": 0}
    campaign.config_json = {**campaign.config_json, "review": review}
    campaign.save()


def _run(
    campaign: Campaign, crowd: list[WorkerSession], wanted: int, syncs: int
) -> tuple[Counter[str], float]:
    """Work and sync in turn until everything is ingested. Returns the calls and the seconds of the
    syncs."""
    hit_type_id = campaign.hit_types.get().hit_type_id
    counting = Counting(marketplace_of(campaign))
    taken, each = 0.0, -(-wanted // syncs)
    try:
        for number in range(1, syncs + 1):
            _work(campaign, crowd, hit_type_id, each)
            is_whole = number == syncs or is_listing_due(campaign, at=timezone.now())
            again = partial(
                reconcile, campaign, marketplace=counting.marketplace, is_whole=is_whole
            )
            taken += seconds(again)
    finally:
        counting.stop()
    return counting.calls, taken


def _work(campaign: Campaign, crowd: list[WorkerSession], hit_type_id: str, count: int) -> None:
    """Do this many assignments with workers who take turns, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        turns = [crowd[number % len(crowd)] for number in range(count)]
        answers = list(pool.map(lambda worker: _accept(worker, hit_type_id), turns))
    for worker, accepted in zip(turns, answers, strict=True):
        if accepted is not None:
            _answer(campaign, worker, accepted)
    crowd.append(crowd.pop(0))


def _accept(worker: WorkerSession, hit_type_id: str) -> Frame | None:
    """Accept a HIT. Returns the URL of its frame; None if no HIT was offered."""
    with suppress(NotOffered):
        return worker.accept(hit_type_id)
    return None


def _answer(campaign: Campaign, worker: WorkerSession, frame: Frame) -> None:
    """Open the page, store the answer as the site's view does, and submit it. A worker without a
    task returns the HIT."""
    given = {key: values[0] for key, values in parse_qs(urlsplit(frame.src).query).items()}
    parameters = FrameParameters(
        given["assignmentId"], given["hitId"], given["workerId"], settings.MARKETPLACE_URL
    )
    at = timezone.now()
    try:
        page = open_page(campaign=campaign, frame=parameters, at=at)
    except NothingToDo:
        return worker.give_back(frame)
    fields = {f"caption-{task.number}": TEXT for task in page.tasks}
    passed_on = store_answers(
        campaign=campaign,
        form=page.form,
        fields=fields,
        counts={},
        device="",
        at=at + timedelta(seconds=40),
    )
    worker.submit(given["assignmentId"], **passed_on).raise_for_status()


if __name__ == "__main__":
    main(measure, name="sync", description=__doc__)
