"""Workers' standings: counted from assessments and verdicts, and turned into figures.

Whatever changes a worker's counts adds a StandingChange. A refresh counts those workers anew and
weighs them with what the model learned last, in milliseconds. Learning looks at all workers, and
so is for commands and the reconciler; it depends on what is known alone, not on the order in which
it became known.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import asdict
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When

from annotate.models import Campaign, Response
from qualcontrol.models import Assessment, Standing, StandingChange, Verdict, Weights
from qualcontrol.risk.hypotheses import BLOCK_STARTS
from qualcontrol.risk.model import LEARNED_FORM, Crowd, Group, fit
from qualcontrol.risk.ranking import CheckRanking
from qualcontrol.risk.reasons import reasons
from qualcontrol.services.flagging import assess
from qualcontrol.services.locks import lock_workers

Tallies = dict[int, list[list[Any]]]
COUNTED = ["tally", "responses", "good", "bad"]
WEIGHED = ["risk", "share", "low", "high", "worth", "because"]


def note_changes(campaign: Campaign, workers: Iterable[int]) -> None:
    """Have these workers counted anew; part of the transaction that changed something."""
    StandingChange.objects.bulk_create(
        StandingChange(campaign=campaign, worker_id=worker) for worker in sorted(set(workers))
    )


@transaction.atomic
def refresh_standings(*, campaign: Campaign) -> set[int]:
    """Count anew the workers of whom something changed, and weigh them with what was learned
    last; returns their keys."""
    weights = _locked_weights(campaign)
    changed = _take_changes(campaign)
    if tallies := _tallies(campaign, changed) if changed else {}:
        _write(campaign, tallies, weights)
        _bump_revision(weights)
    return changed


def learn(*, campaign: Campaign) -> None:
    """Refresh the standings, and learn from all workers together, unless nothing has changed.

    The learning itself holds no lock. If standings change meanwhile, it is left for next time.
    """
    refresh_standings(campaign=campaign)
    weights = Weights.objects.get(pk=campaign.pk)
    if weights.revision == weights.learned_at_revision and _usable(weights):
        return
    counted = Standing.objects.of(campaign).exclude(responses=0)
    tallies = dict(counted.values_list("worker_id", "tally"))
    if not tallies:
        return
    crowd = weighed(campaign, tallies, values=None)
    with transaction.atomic():
        current = Weights.objects.filter(pk=weights.pk, revision=weights.revision)
        if current.update(values=crowd.learned, learned_at_revision=weights.revision):
            _save(campaign, crowd, tallies)


def recount_standings(*, campaign: Campaign) -> int:
    """Count and weigh everything anew, with the responses from before there were flags; how many
    standings were wrong."""
    _assess_missing(campaign)
    learn(campaign=campaign)
    with transaction.atomic():
        weights = _locked_weights(campaign)
        before = _rows(campaign)
        if tallies := _tallies(campaign):
            _write(campaign, tallies, weights)
        after = _rows(campaign)
        wrong = sum(after[worker] != before.get(worker) for worker in after)
        if wrong:
            # Whoever is learning from the wrong standings at this moment must not save them again.
            _bump_revision(weights)
    return wrong


@transaction.atomic
def _assess_missing(campaign: Campaign) -> None:
    """Flag what was submitted before there were flags."""
    submitted = Response.objects.of(campaign)
    missing = submitted.filter(assessment=None)
    workers = set(missing.order_by().values_list("worker_id", flat=True).distinct())
    lock_workers(workers)
    responses = missing.filter(worker__in=workers).select_related("task", "worker")
    note_changes(campaign, assess(campaign=campaign, responses=list(responses.order_by("pk"))))


def weighed(campaign: Campaign, tallies: Tallies, *, values: Any) -> Crowd:
    """The risk model's crowd of these workers; it learns where no `values` are given."""
    review = campaign.config.review
    groups = [
        Group(worker, block, tuple(codes.split()), unjudged, good, bad)
        for worker, tally in tallies.items()
        for block, codes, unjudged, good, bad in tally
    ]
    return fit(groups, limit=review.limit, certainty=review.certainty, learned=values)


def crowd_of(campaign: Campaign, standings: QuerySet[Standing]) -> Crowd | None:
    """These workers, weighed with what was learned last; none where nobody has a standing."""
    tallies = {pk: tally for pk, tally in standings.values_list("worker_id", "tally") if tally}
    if not tallies:
        return None
    weights = Weights.objects.filter(campaign=campaign).first()
    return weighed(campaign, tallies, values=_usable(weights))


def newcomer_risk(campaign: Campaign, codes: Collection[str]) -> float:
    """How probably a worker's first response is bad that has these flags, as far as is known."""
    weights = Weights.objects.filter(campaign=campaign).first()
    tallies = {0: [[0, " ".join(codes), 1, 0, 0]]}
    crowd = weighed(campaign, tallies, values=_usable(weights))
    return crowd.chance_bad(0, 0, tuple(codes))


def _usable(weights: Weights | None) -> Any:
    """What was learned, if anything was and by the model as it is now."""
    values = weights.values if weights is not None else None
    return values if values and values.get("form") == LEARNED_FORM else None


def _locked_weights(campaign: Campaign) -> Weights:
    """The campaign's weights, which also stand for its standings: who has them may write these."""
    Weights.objects.get_or_create(campaign=campaign)
    return Weights.objects.select_for_update(no_key=True).get(campaign=campaign)


def _bump_revision(weights: Weights) -> None:
    Weights.objects.filter(pk=weights.pk).update(revision=weights.revision + 1)


def _take_changes(campaign: Campaign) -> set[int]:
    """Take away the changes that were noted, in one statement, so that none is lost that is noted
    at the same moment."""
    table = StandingChange._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM {table} WHERE campaign_id = %s RETURNING worker_id", [campaign.pk]
        )
        return {worker for (worker,) in cursor.fetchall()}


def _tallies(campaign: Campaign, workers: Collection[int] | None = None) -> Tallies:
    """Responses of each worker by block, flags and verdict, of all workers or of these."""
    assessments = Assessment.objects.filter(campaign=campaign)
    if workers is not None and len(workers) <= MOST_NAMED:
        assessments = assessments.filter(worker__in=workers)
    verdict = "response__spot_check__verdict"
    rows = (
        assessments.annotate(block=_block())
        .order_by("worker", "block", "codes")
        .values_list("worker_id", "block", "codes")
        .annotate(
            all=Count("pk"),
            good=Count("pk", filter=Q(**{verdict: Verdict.GOOD})),
            bad=Count("pk", filter=Q(**{verdict: Verdict.BAD})),
        )
    )
    tallies: Tallies = defaultdict(list)
    for worker, block, codes, all_, good, bad in rows.iterator():
        tallies[worker].append([block, codes, all_ - good - bad, good, bad])
    return dict(tallies)


# Above so many workers it is quicker to count everybody.
MOST_NAMED = 300


def _block() -> Case:
    """The block of a response by its place in the worker's work, as `risk.block_of` has it."""
    latest_first = reversed(list(enumerate(BLOCK_STARTS)))
    return Case(
        *(When(position__gt=start, then=Value(block)) for block, start in latest_first),
        output_field=IntegerField(),
    )


def _write(campaign: Campaign, tallies: Tallies, weights: Weights) -> None:
    _save(campaign, weighed(campaign, tallies, values=_usable(weights)), tallies)


def _save(campaign: Campaign, crowd: Crowd, tallies: Tallies) -> None:
    ranking = CheckRanking(crowd)
    Standing.objects.bulk_create(
        (
            _standing(campaign, crowd, worker, ranking.expected_value(worker), tally)
            for worker, tally in sorted(tallies.items())
        ),
        update_conflicts=True,
        unique_fields=["campaign", "worker"],
        update_fields=[*COUNTED, *WEIGHED],
    )


def _standing(
    campaign: Campaign, crowd: Crowd, worker: int, expected_value: float, tally: list[list[Any]]
) -> Standing:
    estimate = crowd.estimate(worker)
    return Standing(
        campaign=campaign,
        worker_id=worker,
        tally=tally,
        responses=estimate.responses,
        good=estimate.judged_good,
        bad=estimate.judged_bad,
        risk=estimate.risk,
        share=estimate.share,
        low=estimate.low,
        high=estimate.high,
        worth=expected_value,
        because=[asdict(reason) for reason in reasons(crowd, worker)],
    )


def _rows(campaign: Campaign) -> dict[int, dict[str, Any]]:
    rows = Standing.objects.of(campaign).values("worker_id", *COUNTED, *WEIGHED)
    return {row["worker_id"]: row for row in rows}
