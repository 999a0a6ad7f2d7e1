"""Reads for the pages: what a campaign's workers did, and what is said about them.

A campaign may have hundreds of thousands of responses. So workers are ranked first, and the other
figures are counted for those on the page alone.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate.models import Campaign, Response, ResponseStatus, Worker
from qualcontrol.models import Decision, SpotCheck, Verdict


@dataclass(frozen=True)
class WorkerFigures:
    """What one worker did in a campaign."""

    pseudonym: str
    submitted: int
    discarded: int
    good: int
    bad: int
    is_excluded: bool


def known_workers(campaign: Campaign) -> QuerySet[Worker]:
    """Workers who answered in the campaign; another campaign's worker is not found here."""
    answers = Response.objects.of(campaign).filter(worker=OuterRef("pk"))
    return Worker.objects.filter(Exists(answers))


def ranked_workers(campaign: Campaign) -> list[int]:
    """The keys of the workers who submitted something, the busiest first."""
    submitted = Response.objects.of(campaign).exclude(status=ResponseStatus.STORED)
    rows = submitted.values_list("worker").annotate(n=Count("pk")).order_by("-n", "worker")
    return [worker for worker, _ in rows]


def latest_workers(campaign: Campaign, *, most: int, among: int = 500) -> list[int]:
    """The keys of those who wrote most of the campaign's latest responses."""
    latest = Response.objects.of(campaign).counting().order_by("-submitted_at")
    counted = Counter(latest.values_list("worker_id", flat=True)[:among])
    return [worker for worker, _ in counted.most_common(most)]


def figures_of(campaign: Campaign, workers: Sequence[int]) -> list[WorkerFigures]:
    """The figures of these workers, in their order, in four queries."""
    pseudonyms = dict(Worker.objects.filter(pk__in=workers).values_list("pk", "pseudonym"))
    responses = Response.objects.of(campaign).filter(worker__in=workers)
    states = Counter(responses.values_list("worker_id", "status"))
    checks = SpotCheck.objects.of(campaign).filter(response__worker__in=workers)
    verdicts = Counter(checks.values_list("response__worker_id", "verdict"))
    excluded = set(
        campaign.exclusions.in_force()
        .filter(worker__in=workers)
        .values_list("worker_id", flat=True)
    )
    return [
        WorkerFigures(
            pseudonym=pseudonyms[worker],
            submitted=states[worker, ResponseStatus.SUBMITTED.value]
            + states[worker, ResponseStatus.DISCARDED.value],
            discarded=states[worker, ResponseStatus.DISCARDED.value],
            good=verdicts[worker, Verdict.GOOD.value],
            bad=verdicts[worker, Verdict.BAD.value],
            is_excluded=worker in excluded,
        )
        for worker in workers
    ]


def decisions_about(campaign: Campaign, worker: Worker) -> QuerySet[Decision]:
    """The log's lines on the worker or on what they wrote, the latest first."""
    return campaign.decisions.filter(Q(worker=worker) | Q(response__worker=worker)).select_related(
        "actor", "worker", "response__worker", "response__caption"
    )
