"""The quality report: a campaign's quality, and its workers and reviewers.

A campaign can have hundreds of thousands of responses. So workers are ranked by their stored risks,
and other numbers are counted for the workers of one page only.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet

from annotate.kinds import KINDS
from annotate.models import Campaign, Response, ResponseStatus, Worker
from annotate.services.campaigns import answers_counting
from qualcontrol.models import (
    Decision,
    GoldAnswer,
    HeldPayment,
    Judgement,
    Proposal,
    SpotCheck,
    Verdict,
    WorkerRisk,
    waiting_for_verdicts,
)
from qualcontrol.review.agreement import Agreement, agreement
from qualcontrol.risk.estimate import Estimate, estimate_share

# With more workers than this, counting all responses of the campaign is faster.
FEW = 100
ACTIVE, WAITING, PAUSED = "active", "waiting", "paused"
PROPOSED, EXCLUDED = "proposed", "excluded"


@dataclass(frozen=True)
class WorkerSummary:
    """One worker's responses and risk in a campaign.

    `risk` is the probability that the worker's bad share is above the tolerated share, `share` the
    expected share, with its 90% interval from `low` to `high`, and `reasons` explain the risk.
    """

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


@dataclass(frozen=True)
class ReviewerSummary:
    """One reviewer's judgements, and how many gold items they judged correctly."""

    name: str
    judged: int
    bad: int
    gold_right: int
    gold_of: int


@dataclass(frozen=True)
class QualityReport:
    """A campaign's quality. `kept` is the number of responses that the estimate is about, `waiting`
    the number of required checks left."""

    estimate: Estimate
    kept: int
    good: int
    bad: int
    waiting: int
    held_payments: int
    agreement: Agreement
    reviewers: list[ReviewerSummary]
    # The reasons of bad verdicts with their numbers, the most common first.
    faults: list[tuple[str, int]]

    @property
    def judged(self) -> int:
        return self.good + self.bad


def quality_report(campaign: Campaign) -> QualityReport:
    """The campaign's quality report, without its workers."""
    checks = SpotCheck.objects.of(campaign)
    verdicts = Counter(dict(checks.values_list("verdict").annotate(Count("pk"))))
    kept = answers_counting(campaign)
    return QualityReport(
        estimate=estimate_of(campaign, kept),
        kept=kept,
        good=verdicts[Verdict.GOOD],
        bad=verdicts[Verdict.BAD],
        waiting=checks.open().count(),
        held_payments=HeldPayment.objects.of(campaign).open().count(),
        agreement=agreement(_judged_together(campaign)),
        reviewers=reviewers(campaign),
        faults=_faults(campaign),
    )


def _faults(campaign: Campaign, most: int = 8) -> list[tuple[str, int]]:
    """The most common reasons of bad verdicts. Reasons in a reviewer's own words are often unique,
    so the others are left out."""
    bad = SpotCheck.objects.of(campaign).filter(verdict=Verdict.BAD).order_by()
    rows = bad.values_list("reason").annotate(n=Count("pk")).order_by("-n", "reason")
    return list(rows[:most])


def estimate_of(campaign: Campaign, kept: int) -> Estimate:
    """The estimate from the random sample, up to the first response without a verdict, so that the
    order of judging has no influence."""
    checks = SpotCheck.objects.of(campaign)
    # An open check is not of a discarded response, so it counts whether its worker is excluded.
    frontier = checks.filter(is_random=True).open().aggregate(first=Min("draw"))["first"]
    sampled = Q(is_random=True) if frontier is None else Q(is_random=True, draw__lt=frontier)
    # Responses that an exclusion did not discard are released, so they count here. Those that it
    # discarded are subtracted: they are few, and the others need no look at their responses.
    gone = Response.objects.filter(
        status=ResponseStatus.DISCARDED, worker__in=campaign.exclusions.in_force().values("worker")
    )
    judged = _verdicts(checks, sampled)
    judged.subtract(_verdicts(checks.filter(response__in=gone), sampled))
    return estimate_share(
        good=judged["good"], bad=judged["bad"], kept=kept, removed=judged["removed"]
    )


def _verdicts(checks: QuerySet[SpotCheck], sampled: Q) -> Counter[str]:
    """The good and bad verdicts in the sample, and all bad ones as `removed`."""
    is_bad = Q(verdict=Verdict.BAD)
    return Counter(
        checks.exclude(verdict="").aggregate(
            good=Count("pk", filter=sampled & Q(verdict=Verdict.GOOD)),
            bad=Count("pk", filter=sampled & is_bad),
            removed=Count("pk", filter=is_bad),
        )
    )


def _judged_together(campaign: Campaign) -> list[dict[str, str]]:
    """{reviewer: verdict} for each response with several judgements."""
    of_campaign = Judgement.objects.filter(spot_check__campaign=campaign)
    others = Judgement.objects.filter(spot_check=OuterRef("spot_check")).exclude(pk=OuterRef("pk"))
    judgements = of_campaign.filter(Exists(others)).order_by("spot_check", "pk")
    said: dict[int, dict[str, str]] = {}
    for check, reviewer, verdict in judgements.values_list("spot_check", "reviewer", "verdict"):
        said.setdefault(check, {})[str(reviewer)] = verdict
    return list(said.values())


def reviewers(campaign: Campaign) -> list[ReviewerSummary]:
    """The reviewers, those with the most judgements first."""
    judgements = Judgement.objects.filter(spot_check__campaign=campaign).order_by()
    rows = judgements.values_list("reviewer__username").annotate(
        n=Count("pk"), bad=Count("pk", filter=Q(verdict=Verdict.BAD))
    )
    answers = GoldAnswer.objects.filter(gold__campaign=campaign).values_list("reviewer__username")
    gold = {
        name: (right, all_)
        for name, right, all_ in answers.annotate(
            right=Count("pk", filter=Q(verdict=F("gold__verdict"))), n=Count("pk")
        )
    }
    judged = {name: (n, bad) for name, n, bad in rows}
    found = [
        ReviewerSummary(name or "", *judged.get(name, (0, 0)), *gold.get(name, (0, 0)))
        for name in {**judged, **gold}
    ]
    return sorted(found, key=lambda one: (-one.judged, one.name))


def known_workers(campaign: Campaign) -> QuerySet[Worker]:
    """Workers with a submission in the campaign, also those whose answers fit no task."""
    answers = Response.objects.of(campaign).filter(worker=OuterRef("pk"))
    held = HeldPayment.objects.of(campaign).filter(worker=OuterRef("pk"))
    return Worker.objects.filter(Exists(answers) | Exists(held))


def ranked_workers(campaign: Campaign) -> list[int]:
    """The keys of the workers with submissions, by risk, then by number of responses."""
    submitted = Response.objects.of(campaign)
    held = HeldPayment.objects.of(campaign).order_by()
    rows = dict.fromkeys(held.values_list("worker", flat=True), 0)
    rows |= dict(submitted.order_by().values_list("worker").annotate(n=Count("*")))
    risks = dict(WorkerRisk.objects.of(campaign).values_list("worker", "risk"))
    return sorted(rows, key=lambda worker: (-risks.get(worker, 0.0), -rows[worker], worker))


def latest_workers(campaign: Campaign, *, most: int, among: int = 500) -> list[int]:
    """The keys of the workers who wrote most of the campaign's latest responses."""
    latest = Response.objects.of(campaign).counting().order_by("-submitted_at")
    counted = Counter(latest.values_list("worker_id", flat=True)[:among])
    return [worker for worker, _ in counted.most_common(most)]


def worker_summaries(campaign: Campaign, workers: Sequence[int]) -> list[WorkerSummary]:
    """The report's rows of these workers, in their order. Takes seven queries."""
    pseudonyms = dict(Worker.objects.filter(pk__in=workers).values_list("pk", "pseudonym"))
    responses = Response.objects.of(campaign)
    if len(workers) <= FEW:
        responses = responses.filter(worker__in=workers)
    written = _counted(responses, "worker_id", "status")
    checks = SpotCheck.objects.of(campaign).filter(response__worker__in=workers)
    verdicts = _counted(checks, "response__worker_id", "verdict")
    theirs = WorkerRisk.objects.of(campaign).filter(worker__in=workers)
    # A worker who was not counted yet gets the defaults of the model.
    risks_by_worker = defaultdict(WorkerRisk, {one.worker_id: one for one in theirs.defer("tally")})
    states = _states(campaign, workers)
    return [
        WorkerSummary(
            pseudonym=pseudonyms[worker],
            submitted=written[worker, ResponseStatus.SUBMITTED]
            + written[worker, ResponseStatus.DISCARDED],
            discarded=written[worker, ResponseStatus.DISCARDED],
            good=verdicts[worker, Verdict.GOOD],
            bad=verdicts[worker, Verdict.BAD],
            risk=risks_by_worker[worker].risk,
            share=risks_by_worker[worker].share,
            low=risks_by_worker[worker].low,
            high=risks_by_worker[worker].high,
            state=states.get(worker, ACTIVE),
            reasons=risks_by_worker[worker].reasons,
        )
        for worker in workers
    ]


def _counted(rows: QuerySet[Any], worker: str, state: str) -> Counter[tuple[int, str]]:
    # Not the primary key, which is not in the index of responses by worker.
    counts = rows.order_by().values_list(worker, state).annotate(n=Count("*"))
    return Counter({(key, value): number for key, value, number in counts})


def _states(campaign: Campaign, workers: Sequence[int]) -> dict[int, str]:
    """The state of each worker who is not active. The most serious one counts."""
    proposed = Proposal.objects.open().filter(campaign=campaign)
    waiting = waiting_for_verdicts(campaign).filter(pk__in=workers)
    found = dict.fromkeys(waiting.values_list("pk", flat=True), WAITING)
    for state, rows in (
        (PAUSED, campaign.pauses.in_force()),
        (PROPOSED, proposed),
        (EXCLUDED, campaign.exclusions.in_force()),
    ):
        for worker in rows.filter(worker__in=workers).values_list("worker", flat=True):
            found[worker] = state
    return found


def decisions_about(campaign: Campaign, worker: Worker) -> QuerySet[Decision]:
    """Decisions about the worker or the worker's responses, the latest first."""
    content = (f"response__{name}" for name in KINDS[campaign.kind].answer_relations)
    return campaign.decisions.filter(Q(worker=worker) | Q(response__worker=worker)).select_related(
        "actor", "worker", "response__worker", *content
    )
