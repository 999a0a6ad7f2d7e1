"""The quality report: a campaign's quality, and its reviewers with their agreement."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

import krippendorff
from django.db.models import Case, Count, Exists, F, Min, OuterRef, Q, QuerySet, When

from annotate.models import Campaign, Response, ResponseStatus
from annotate.queries.progress import progress
from qualcontrol.models import (
    GoldAnswer,
    HeldPayment,
    Judgement,
    SpotCheck,
    Verdict,
)
from qualcontrol.queries.workers import FEW
from qualcontrol.risk.estimate import Estimate, Sampled, estimate_share


@dataclass(frozen=True)
class Agreement:
    """Agreement on responses with several judgements: kappa of the first two judgements of each,
    and alpha of all. None if it cannot be computed, for example because all judgements are
    equal."""

    pairs: int
    kappa: float | None = None
    alpha: float | None = None


def agreement(judged: Sequence[Mapping[str, str]]) -> Agreement:
    """Compute the agreement from {reviewer: verdict} for each response, in the order of judging."""
    judged = [said for said in judged if len(said) >= 2]
    pairs = [tuple(islice(said.values(), 2)) for said in judged]
    if len({verdict for pair in pairs for verdict in pair}) < 2:
        # With a single verdict everywhere, chance agreement is perfect, and kappa is not defined.
        return Agreement(len(pairs))
    return Agreement(len(pairs), _kappa(pairs), _alpha(judged))


def _kappa(pairs: Sequence[tuple[str, ...]]) -> float:
    """Cohen (1960): the observed agreement beyond chance, divided by the largest possible one."""
    first, second = (Counter(verdicts) for verdicts in zip(*pairs, strict=True))
    observed = sum(one == other for one, other in pairs) / len(pairs)
    by_chance = sum(first[verdict] * second[verdict] for verdict in first) / len(pairs) ** 2
    return (observed - by_chance) / (1 - by_chance)


def _alpha(judged: Sequence[Mapping[str, str]]) -> float:
    reviewers = sorted({reviewer for said in judged for reviewer in said})
    # One row for each reviewer, one column for each response; NaN without a judgement.
    values = {"GOOD": 0.0, "BAD": 1.0}
    table = [
        [values[said[reviewer]] if reviewer in said else float("nan") for said in judged]
        for reviewer in reviewers
    ]
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))


# Numbers of verdicts.
GOOD, BAD, JUDGED, REMOVED = "good", "bad", "judged", "removed"


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
    kept = progress(campaign).submitted
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


def _faults(campaign: Campaign) -> list[tuple[str, int]]:
    """The eight most common reasons of bad verdicts. Reasons in a reviewer's own words are often
    unique, so the others are left out."""
    bad = SpotCheck.objects.of(campaign).filter(verdict=Verdict.BAD).order_by()
    rows = bad.values_list("reason").annotate(n=Count("pk")).order_by("-n", "reason")
    return list(rows[:8])


def estimate_of(campaign: Campaign, kept: int) -> Estimate:
    """The estimate from the random sample, up to the first response without a verdict, so that the
    order of judging has no influence."""
    checks = SpotCheck.objects.of(campaign)
    # An open check is not of a discarded response, so it counts whether its worker is excluded.
    frontier = checks.filter(is_random=True).open().aggregate(first=Min("draw"))["first"]
    sampled = Q(is_random=True) if frontier is None else Q(is_random=True, draw__lt=frontier)
    # Only of the responses that are kept, also those that an exclusion did not discard, and of
    # those that checks removed from them. Others were withdrawn or lost, or discarded with what
    # they build on.
    by_exclusion = Q(worker__in=campaign.exclusions.in_force().values("worker"))
    taken_away = Q(withdrawn_at__isnull=False) | Q(submission__lost_at__isnull=False)
    gone = Response.objects.of(campaign).filter(
        by_exclusion | taken_away | ~Q(spot_check__verdict=Verdict.BAD),
        status=ResponseStatus.DISCARDED,
    )
    verdicts = _verdicts(checks.exclude(response__in=gone), sampled)
    totals = Counter[str]()
    for (*_, name), number in verdicts.items():
        totals[name] += number
    return estimate_share(
        _sampled(campaign, verdicts),
        kept=kept,
        removed=totals[REMOVED],
        unseen=max(0, kept - totals[JUDGED] + totals[REMOVED]),
    )


# The numbers of verdicts of each worker on responses with flags, and on those without.
Verdicts = Counter[tuple[int, bool, str]]


def _verdicts(checks: QuerySet[SpotCheck], sampled: Q) -> Verdicts:
    """The good and bad verdicts in the sample, all, and all bad ones as `removed`."""
    is_bad = Q(verdict=Verdict.BAD)
    numbers = {
        GOOD: Count("pk", filter=sampled & Q(verdict=Verdict.GOOD)),
        BAD: Count("pk", filter=sampled & is_bad),
        JUDGED: Count("pk"),
        REMOVED: Count("pk", filter=is_bad),
    }
    judged = checks.exclude(verdict="").order_by()
    groups = judged.values(worker=F("response__worker"), is_flagged=_is_flagged("response__"))
    rows = groups.annotate(**numbers)
    return Counter(
        {(row["worker"], row["is_flagged"], name): row[name] for row in rows for name in numbers}
    )


def _is_flagged(response: str = "") -> Case:
    has_codes = Q(**{f"{response}assessment__codes__gt": ""})
    return Case(When(has_codes, then=True), default=False)


def _sampled(campaign: Campaign, verdicts: Verdicts) -> Iterator[Sampled]:
    """The workers of the sample."""
    workers = {worker for (worker, _, name), n in verdicts.items() if n and name in (GOOD, BAD)}
    counting = Response.objects.of(campaign).counting().order_by()
    if len(workers) <= FEW:
        counting = counting.filter(worker__in=workers)
    groups = counting.values_list("worker", _is_flagged()).annotate(n=Count("*"))
    written = {(worker, is_flagged): n for worker, is_flagged, n in groups}
    for worker, is_flagged in product(sorted(workers), (False, True)):
        group = worker, is_flagged
        yield Sampled(
            *group,
            good=verdicts[*group, GOOD],
            bad=verdicts[*group, BAD],
            written=written.get(group, 0) + verdicts[*group, REMOVED],
            judged=verdicts[*group, JUDGED],
        )


def _judged_together(campaign: Campaign) -> list[dict[str, str]]:
    """{reviewer: verdict} for each response with several judgements.

    Also for those that wait for a third one: all of these are disagreements.
    """
    of_campaign = Judgement.objects.filter(spot_check__campaign=campaign)
    others = Judgement.objects.filter(spot_check=OuterRef("spot_check")).exclude(pk=OuterRef("pk"))
    judgements = of_campaign.filter(Exists(others)).order_by("spot_check", "pk")
    said: dict[int, dict[str, str]] = {}
    for check, reviewer, verdict in judgements.values_list("spot_check", "reviewer", "verdict"):
        said.setdefault(check, {})[str(reviewer)] = verdict
    return list(said.values())


def reviewers(campaign: Campaign) -> list[ReviewerSummary]:
    """The reviewers, those with the most judgements first.

    A judgement counts once its check has a verdict: who is to judge next must not learn of it.
    """
    of_campaign = Judgement.objects.filter(spot_check__campaign=campaign)
    judgements = of_campaign.exclude(spot_check__verdict="").order_by()
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
    summaries = [
        ReviewerSummary(name or "", *judged.get(name, (0, 0)), *gold.get(name, (0, 0)))
        for name in {**judged, **gold}
    ]
    return sorted(summaries, key=lambda summary: (-summary.judged, summary.name))
