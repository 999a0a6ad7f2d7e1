"""A campaign's workers: lists of them, and their numbers.

A campaign can have hundreds of thousands of responses. So workers are ranked by their stored risks,
and other numbers are counted for the workers of one page only.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import (
    Case,
    Count,
    Exists,
    FilteredRelation,
    JSONField,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotate.models import Campaign, Response, ResponseStatus, Worker
from qualcontrol.models import HeldPayment, SpotCheck, Verdict, worker_state
from shared.tables import Column

# With more workers than this, counting all responses of the campaign is faster.
FEW = 100


@dataclass(frozen=True)
class WorkerSummary:
    """One worker's responses and risk in a campaign; WORKER_COLUMNS explains the numbers."""

    pseudonym: str
    submitted: int
    discarded: int
    good: int
    bad: int
    risk: float
    share: float
    low: float
    high: float
    state: str
    reasons: list[dict[str, Any]]

    @property
    def kept(self) -> int:
        return self.submitted - self.discarded


# The order ends with the key, which breaks ties, so that pages do not overlap.
WORKER_COLUMNS = (
    Column("pseudonym", "Worker", sort="worker", order="pseudonym"),
    Column("submitted", "{answers}", sort="answers", order="-answers pk"),
    Column("discarded", "Discarded", is_detail=True),
    Column("good", "Judged good", order="-good pk", about="responses judged good", is_detail=True),
    Column("bad", "Judged bad", order="-bad pk", about="responses judged bad", is_detail=True),
    Column(
        "risk",
        "Risk",
        order="-risk -answers pk",
        about="probability that the bad share is above the tolerated share",
    ),
    Column(
        "share", "{estimated} share", order="-share pk", about="expected share of bad responses"
    ),
    Column("low", about="lower end of the share's 90% interval"),
    Column("high", about="upper end of the share's 90% interval"),
    Column("state", "State"),
)


def listed_workers(campaign: Campaign) -> QuerySet[Worker]:
    """The campaign's workers with what a list is filtered by and sorted by: `state`, `judged`
    (`yes` or `no`), and stored numbers, so that no response is counted."""
    workers: QuerySet[Worker] = _with_risks(campaign, known_workers(campaign)).annotate(
        answers=Coalesce("own__responses", Value(0)),
        good=Coalesce("own__good", Value(0)),
        bad=Coalesce("own__bad", Value(0)),
        judged=Case(When(Q(good__gt=0) | Q(bad__gt=0), then=Value("yes")), default=Value("no")),
    )
    return workers


def _with_risks(campaign: Campaign, workers: QuerySet[Worker]) -> QuerySet[Any]:
    """The workers with their states and stored estimates."""
    risk = FilteredRelation("worker_risks", condition=Q(worker_risks__campaign=campaign))
    return workers.annotate(
        own=risk,
        state=worker_state(campaign),
        risk=Coalesce("own__risk", Value(0.0)),
        share=Coalesce("own__share", Value(0.0)),
        low=Coalesce("own__low", Value(0.0)),
        high=Coalesce("own__high", Value(1.0)),
        reasons=Coalesce("own__reasons", Value([], JSONField())),
    )


def known_workers(campaign: Campaign) -> QuerySet[Worker]:
    """Workers with a submission in the campaign, also those whose answers fit no task, and those
    who did not pass the practice."""
    answers = Response.objects.of(campaign).filter(worker=OuterRef("pk"))
    held = HeldPayment.objects.of(campaign).filter(worker=OuterRef("pk"))
    excluded = campaign.exclusions.filter(worker=OuterRef("pk"))
    return Worker.objects.filter(Exists(answers) | Exists(held) | Exists(excluded))


def latest_workers(campaign: Campaign, *, most: int, among: int = 500) -> list[int]:
    """The keys of the workers who wrote most of the campaign's latest responses."""
    latest = Response.objects.of(campaign).counting().order_by("-submitted_at")
    counted = Counter(latest.values_list("worker_id", flat=True)[:among])
    return [worker for worker, _ in counted.most_common(most)]


def worker_summaries(campaign: Campaign, workers: Sequence[int]) -> list[WorkerSummary]:
    """The numbers of these workers, in their order. Takes three queries."""
    names = ("pk", "pseudonym", "state", "risk", "share", "low", "high", "reasons")
    rows = _with_risks(campaign, Worker.objects.filter(pk__in=workers)).values(*names)
    stored = {row.pop("pk"): row for row in rows}
    responses = Response.objects.of(campaign)
    if len(workers) <= FEW:
        responses = responses.filter(worker__in=workers)
    written = _counted(responses, "worker_id", "status")
    checks = SpotCheck.objects.of(campaign).filter(response__worker__in=workers)
    verdicts = _counted(checks, "response__worker_id", "verdict")
    return [
        WorkerSummary(
            **stored[worker],
            submitted=written[worker, ResponseStatus.SUBMITTED]
            + written[worker, ResponseStatus.DISCARDED],
            discarded=written[worker, ResponseStatus.DISCARDED],
            good=verdicts[worker, Verdict.GOOD],
            bad=verdicts[worker, Verdict.BAD],
        )
        for worker in workers
    ]


def _counted(rows: QuerySet[Any], worker: str, state: str) -> Counter[tuple[int, str]]:
    # Not the primary key, which is not in the index of responses by worker.
    counts = rows.order_by().values_list(worker, state).annotate(n=Count("*"))
    return Counter({(key, value): number for key, value, number in counts})
