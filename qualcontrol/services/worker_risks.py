"""Workers' risks: counted from flags and verdicts, computed by the risk model, and stored.

Every change of a worker's counts adds a `WorkerRiskChange`. A refresh counts these workers again
and computes their risks with the values that the model learned last, which takes milliseconds.
Learning reads all workers, so only commands and the reconciler do it. The result depends on the
data alone, and not on the order of the changes.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import asdict
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, Count, F, IntegerField, Q, Value, When

from annotate.models import Campaign
from qualcontrol.flags.flag import label_of
from qualcontrol.models import Assessment, LearnedValues, Verdict, WorkerRisk, WorkerRiskChange
from qualcontrol.risk.hypotheses import BLOCK_STARTS
from qualcontrol.risk.model import LEARNED_FORM, Crowd, Group, fit, reasons
from qualcontrol.risk.ranking import CheckRanking

Tallies = dict[int, list[list[Any]]]
COUNTED = ["tally", "responses", "good", "bad"]
ESTIMATED = ["risk", "share", "low", "high", "expected_value", "reasons"]
# With more workers than this, counting all of them is faster than naming each in the query.
MOST_NAMED = 300


def note_changes(campaign: Campaign, workers: Iterable[int]) -> None:
    """Request a new count of these workers. Call it in the transaction of the change."""
    WorkerRiskChange.objects.bulk_create(
        WorkerRiskChange(campaign=campaign, worker_id=worker) for worker in sorted(set(workers))
    )


@transaction.atomic
def refresh_worker_risks(*, campaign: Campaign) -> None:
    """Update the counts and risks of the workers with changes."""
    learned = _locked_values(campaign)
    changed = _take_changes(campaign)
    if tallies := _tallies(campaign, changed) if changed else {}:
        _bump_revision(campaign)
        _write(campaign, tallies, learned)


def learn(*, campaign: Campaign) -> None:
    """Refresh, and if anything changed since the last call, learn from all workers and update all
    risks.

    The model is fitted without a lock. If a worker's counts change meanwhile, the result is dropped
    and the next call learns again.
    """
    refresh_worker_risks(campaign=campaign)
    learned = LearnedValues.objects.get(pk=campaign.pk)
    if learned.revision == learned.learned_at_revision and _usable(learned):
        return
    counted = WorkerRisk.objects.of(campaign).exclude(responses=0)
    tallies = dict(counted.values_list("worker_id", "tally"))
    if not tallies:
        return
    crowd = fit_tallies(campaign, tallies, values=None)
    with transaction.atomic():
        current = LearnedValues.objects.filter(pk=learned.pk, revision=learned.revision)
        if current.update(values=crowd.learned, learned_at_revision=learned.revision):
            _save(campaign, crowd, tallies)


def recount_worker_risks(*, campaign: Campaign) -> int:
    """Compute all counts and risks from scratch. Returns the number of workers whose stored values
    were wrong."""
    learn(campaign=campaign)
    with transaction.atomic():
        learned = _locked_values(campaign)
        before = _rows(campaign)
        if tallies := _tallies(campaign):
            _write(campaign, tallies, learned)
        after = _rows(campaign)
        wrong = sum(after[worker] != before.get(worker) for worker in after)
        if wrong:
            # A `learn` that has read the wrong counts must not save them again.
            _bump_revision(campaign)
    return wrong


def fit_tallies(campaign: Campaign, tallies: Tallies, *, values: Any) -> Crowd:
    """Run the risk model on these workers; without `values` it learns from them."""
    review = campaign.config.review
    groups = [
        Group(worker, block, tuple(codes.split()), unjudged, good, bad)
        for worker, tally in tallies.items()
        for block, codes, unjudged, good, bad in tally
    ]
    return fit(groups, limit=review.limit, certainty=review.certainty, learned=values)


def crowd_of(campaign: Campaign, counted: Iterable[tuple[int, Any]]) -> Crowd | None:
    """The workers with these tallies and the values learned last; None if none has responses."""
    tallies = {worker: tally for worker, tally in counted if tally}
    if not tallies:
        return None
    return fit_tallies(campaign, tallies, values=_last_learned(campaign))


def stored_tallies(campaign: Campaign, workers: Collection[int]) -> list[tuple[int, Any]]:
    """The keys and tallies of these workers."""
    risks = WorkerRisk.objects.of(campaign).filter(worker__in=workers)
    return list(risks.values_list("worker_id", "tally"))


def newcomer_risk(campaign: Campaign, codes: Collection[str]) -> float:
    """The probability that a new worker's first response is bad if it has these flags."""
    tallies = {0: [[0, " ".join(codes), 1, 0, 0]]}
    crowd = fit_tallies(campaign, tallies, values=_last_learned(campaign))
    return crowd.chance_bad(0, 0, tuple(codes))


def _last_learned(campaign: Campaign) -> Any:
    """The values that the model learned last; None if there are none, or in an earlier form."""
    learned = LearnedValues.objects.filter(campaign=campaign).first()
    return _usable(learned) if learned else None


def _usable(learned: LearnedValues) -> Any:
    values = learned.values
    return values if values and values.get("form") == LEARNED_FORM else None


def _locked_values(campaign: Campaign) -> LearnedValues:
    """The campaign's learned values, locked. This lock also guards the campaign's worker risks."""
    locked = LearnedValues.objects.select_for_update(no_key=True)
    return locked.get_or_create(campaign=campaign)[0]


def _bump_revision(campaign: Campaign) -> None:
    LearnedValues.objects.filter(campaign=campaign).update(revision=F("revision") + 1)


def _take_changes(campaign: Campaign) -> set[int]:
    """Delete the requested counts and return their workers. A single statement does both, so a
    request that is added at the same time is not lost."""
    table = WorkerRiskChange._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM {table} WHERE campaign_id = %s RETURNING worker_id", [campaign.pk]
        )
        return {worker for (worker,) in cursor.fetchall()}


def _tallies(campaign: Campaign, workers: Collection[int] | None = None) -> Tallies:
    """Count the responses by block, flags and verdict, for all workers or for these; each worker's
    list has the form of `WorkerRisk.tally`."""
    tallies: Tallies = defaultdict(list)
    for worker, block, codes, all_, good, bad in _counts(campaign, workers):
        tallies[worker].append([block, codes, all_ - good - bad, good, bad])
    return dict(tallies)


def _counts(campaign: Campaign, workers: Collection[int] | None) -> Iterable[tuple[Any, ...]]:
    """Rows of worker, block, codes, and the numbers of all, good and bad responses."""
    assessments = Assessment.objects.filter(campaign=campaign)
    if workers is not None and len(workers) <= MOST_NAMED:
        assessments = assessments.filter(worker__in=workers)
    verdict = "response__spot_check__verdict"
    return (
        assessments.annotate(block=_block())
        .order_by("worker", "block", "codes")
        .values_list("worker_id", "block", "codes")
        .annotate(
            all=Count("pk"),
            good=Count("pk", filter=Q(**{verdict: Verdict.GOOD})),
            bad=Count("pk", filter=Q(**{verdict: Verdict.BAD})),
        )
        .iterator()
    )


def _block() -> Case:
    """The block of a response in SQL. `position` counts from 1, unlike `hypotheses.block_of`."""
    latest_first = reversed(list(enumerate(BLOCK_STARTS)))
    return Case(
        *(When(position__gt=start, then=Value(block)) for block, start in latest_first),
        output_field=IntegerField(),
    )


def _write(campaign: Campaign, tallies: Tallies, learned: LearnedValues) -> None:
    _save(campaign, fit_tallies(campaign, tallies, values=_usable(learned)), tallies)


def _save(campaign: Campaign, crowd: Crowd, tallies: Tallies) -> None:
    ranking = CheckRanking(crowd)
    rows = [
        WorkerRisk(
            campaign=campaign,
            worker_id=worker,
            tally=tally,
            **asdict(crowd.estimate(worker)),
            expected_value=ranking.expected_value(worker),
            reasons=[asdict(reason) for reason in reasons(crowd, worker, label_of)],
        )
        for worker, tally in sorted(tallies.items())
    ]
    WorkerRisk.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["campaign", "worker"],
        update_fields=[*COUNTED, *ESTIMATED],
    )


def _rows(campaign: Campaign) -> dict[int, dict[str, Any]]:
    rows = WorkerRisk.objects.of(campaign).values("worker_id", *COUNTED, *ESTIMATED)
    return {row["worker_id"]: row for row in rows}
