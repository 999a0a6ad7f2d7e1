"""Discard responses and let them count again, with what builds on them, and log it.

The callers hold the locks of the workers (`locks`), and have called `lock_check_share`.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, Min, OuterRef, Q, QuerySet, Subquery

from annotate.kinds import KINDS
from annotate.models import Campaign, Response, ResponseStatus, Submission, Worker
from annotate.models.responses import ResponseQuerySet
from annotate.services.responses import discard, lock_tasks, restore, set_at_once
from qualcontrol.models import Act, Assessment, Decision, SpotCheck, Verdict
from qualcontrol.services.sampling import draw_for_restored, draw_missing_firsts
from qualcontrol.services.worker_risks import note_changes

BASE_DISCARDED = "what it builds on was discarded"
LATE = "it does not build on the last version that counts"


def discard_and_log(
    responses: Iterable[Response],
    *,
    campaign: Campaign,
    reason: str,
    actor: User | None,
    at: datetime,
    names_worker: bool = False,
) -> list[Response]:
    """Discard responses of the campaign, and those that build on them; return those that counted.
    Another response of its worker is checked in place of a first one without a verdict.

    With `names_worker`, the log names the workers of `responses`, who are the cause.
    """
    responses = list(responses)
    asked = {response.pk for response in responses}
    moved = discard(responses=responses)
    log(
        (response for response in moved if response.pk in asked),
        campaign=campaign,
        act=Act.DISCARD,
        reason=reason,
        actor=actor,
        at=at,
        names_worker=names_worker,
    )
    later = [response for response in moved if response.pk not in asked]
    log(later, campaign=campaign, act=Act.DISCARD, reason=BASE_DISCARDED, actor=actor, at=at)
    if later:
        note_changes(campaign, [response.worker_id for response in later])
    open_rounds(campaign, {response.task_id for response in moved})
    _replace_firsts(moved, campaign, at)
    return moved


def _replace_firsts(discarded: Collection[Response], campaign: Campaign, at: datetime) -> None:
    """Check others in place of these, except those of excluded workers."""
    unjudged = SpotCheck.objects.filter(response__in=discarded, is_first=True, verdict="")
    excluded = campaign.exclusions.in_force().values("worker")
    missing = unjudged.exclude(response__worker__in=excluded).values_list("response__worker")
    for (worker,) in missing.distinct():
        draw_missing_firsts(campaign=campaign, worker=worker, at=at)


def restore_and_log(
    responses: Iterable[Response],
    *,
    campaign: Campaign,
    reason: str,
    actor: User | None,
    at: datetime,
    names_worker: bool = False,
) -> list[Response]:
    """Let responses of the campaign count again, if their tasks have a place for them, and then
    those that were discarded because they build on them; return all that count again."""
    moved = restore(responses=responses)
    draw_for_restored(campaign=campaign, responses=moved, at=at)
    log(
        moved,
        campaign=campaign,
        act=Act.RESTORE,
        reason=reason,
        actor=actor,
        at=at,
        names_worker=names_worker,
    )
    chained = [response.pk for response in moved if response.round is not None]
    later = list(_restorable(chained, campaign)) if chained else []
    # First what counted together with it: others had lost their place before.
    for is_with_it in (True, False):
        if again := [row for row in later if (row.why == BASE_DISCARDED) == is_with_it]:
            note_changes(campaign, [response.worker_id for response in again])
            reason = "what it builds on counts again"
            moved += restore_and_log(again, campaign=campaign, reason=reason, actor=actor, at=at)
    open_rounds(campaign, {response.task_id for response in moved})
    return moved


def _restorable(versions: Collection[int], campaign: Campaign) -> QuerySet[Any]:
    """Discarded responses that build on these versions, and that no decision is against; `why` is
    the reason of its last discard."""
    later = Response.objects.filter(builds_on__in=versions, status=ResponseStatus.DISCARDED)
    log = Decision.objects.filter(response=OuterRef("pk"), act=Act.DISCARD).order_by("-pk")
    return _without_decision(later, campaign).annotate(why=Subquery(log.values("reason")[:1]))


def _without_decision(discarded: QuerySet[Response], campaign: Campaign) -> QuerySet[Response]:
    """Those of the discarded responses that no verdict, exclusion or rejection is against."""
    theirs = campaign.exclusions.in_force().filter(worker__in=discarded.values("worker"))
    excluded = list(theirs.values_list("worker", flat=True))
    left = discarded.exclude(discarded_by_exclusion(campaign, excluded))
    left = left.exclude(spot_check__verdict=Verdict.BAD)
    return not_rejected(left, campaign).order_by("pk")


def discarded_by_exclusion(campaign: Campaign, workers: Collection[int]) -> Q:
    """Which responses the exclusion of these workers discards: all or, with
    `discard = "since_first_bad"`, those from the first one judged bad on."""
    if campaign.config.review.discard == "all":
        return Q(worker__in=workers)
    first = first_bad(campaign, workers)
    discarded = Q(worker__in=[worker for worker in workers if worker not in first])
    for worker, position in first.items():
        discarded |= Q(worker=worker, assessment__position__gte=position)
    return discarded


def first_bad(
    campaign: Campaign,
    workers: Collection[int] | QuerySet[Any],
    *,
    but: Response | None = None,
) -> dict[int, int]:
    """The position of the first response judged bad, for each of these workers who has one;
    without the response `but`."""
    theirs = Assessment.objects.filter(campaign=campaign, worker__in=workers)
    bad = theirs.filter(response__spot_check__verdict=Verdict.BAD).order_by()
    bad = bad.exclude(response=but) if but else bad
    return dict(bad.values_list("worker").annotate(Min("position")))


def with_later(responses: ResponseQuerySet, campaign: Campaign) -> ResponseQuerySet:
    """These responses of the campaign, which count, and those that build on them."""
    if not KINDS[campaign.kind].builds_on_answers:
        return responses
    earlier = responses.order_by().filter(task=OuterRef("task"), round__lt=OuterRef("round"))
    counting = Response.objects.of(campaign).counting()
    return counting.filter(Q(pk__in=responses.order_by().values("pk")) | Exists(earlier))


def open_rounds(campaign: Campaign, tasks: Collection[int]) -> None:
    """Open the next round of the tasks whose last version is judged good, and close it where that
    version waits for its verdict, in campaigns that wait for verdicts."""
    if not tasks or not KINDS[campaign.kind].waits_for_verdict(campaign.config):
        return
    lock_tasks(tasks)
    counting = Response.objects.counting().filter(task__in=tasks).order_by("round")
    verdicts = dict(counting.values_list("task", "spot_check__verdict"))
    set_at_once({task: int(verdicts.get(task, Verdict.GOOD) == Verdict.GOOD) for task in tasks})


def not_rejected(responses: QuerySet[Response], campaign: Campaign) -> QuerySet[Response]:
    """Those of the campaign's responses whose assignment nobody has decided to reject. It is
    rejected as a whole, even if the decision names one of its responses."""
    decided = campaign.decisions.filter(act=Act.REJECT)
    own = decided.filter(response__isnull=False).values("response")
    of_others = decided.filter(response__submission__isnull=False).values("response__submission")
    held = decided.filter(held_payment__isnull=False).values("held_payment__submission")
    return responses.exclude(Q(pk__in=own) | Q(submission__in=of_others) | Q(submission__in=held))


def log(
    responses: Iterable[Response],
    *,
    campaign: Campaign,
    act: Act,
    reason: str,
    actor: User | None,
    at: datetime,
    names_worker: bool = False,
) -> None:
    """Log a decision about each response. An entry with `names_worker` names the worker, whose
    exclusion is the cause."""
    Decision.objects.bulk_create(
        Decision(
            campaign_id=campaign.pk,
            act=act,
            response_id=response.pk,
            worker_id=response.worker_id if names_worker else None,
            reason=reason,
            actor=actor,
            at=at,
        )
        for response in responses
    )


def discard_lost(*, campaign: Campaign, worker: Worker, submission: int, at: datetime) -> None:
    """Discard what the worker submitted in an assignment that the marketplace does not have."""
    Submission.objects.filter(pk=submission).update(lost_at=at)
    theirs = Response.objects.counting().filter(submission=submission)
    reason = "the marketplace does not have its assignment"
    discard_and_log(theirs, campaign=campaign, reason=reason, actor=None, at=at)
    note_changes(campaign, [worker.pk])


def restore_found(*, campaign: Campaign, worker: Worker, submission: int, at: datetime) -> None:
    """Let what `discard_lost` discarded count again, unless a decision is against it."""
    if Submission.objects.filter(pk=submission).exclude(lost_at=None).update(lost_at=None):
        theirs = Response.objects.filter(submission=submission, status=ResponseStatus.DISCARDED)
        again, reason = _without_decision(theirs, campaign), "its assignment was found"
        restore_and_log(again, campaign=campaign, reason=reason, actor=None, at=at)
        note_changes(campaign, [worker.pk])
