"""Exclusions and pauses of workers, the policy's proposals to exclude one, and appeals."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, Max, Q, QuerySet

from annotate.models import Campaign, Response, ResponseStatus, Worker
from annotate.models.responses import ResponseQuerySet
from annotate.queries.progress import pages_for
from annotate.services.responses import in_batches
from qualcontrol.models import (
    Act,
    Appeal,
    Assessment,
    Decision,
    Pause,
    SpotCheck,
    Verdict,
    WorkerRisk,
)
from qualcontrol.services.discards import (
    discard_and_log,
    discarded_by_exclusion,
    first_bad,
    not_rejected,
    restore_and_log,
    with_later,
)
from qualcontrol.services.errors import (
    AlreadyAnswered,
    AlreadyExcluded,
    AlreadyPaused,
    CannotAppeal,
    NotExcluded,
    NothingProposed,
    NotPaused,
    reason_given,
    text_given,
)
from qualcontrol.services.held_payments import forgive_unplaced
from qualcontrol.services.locks import lock_worker
from qualcontrol.services.sampling import lock_check_share

# The reason in the log for the end of a pause by an exclusion, which is not in the worker's favour.
EXCLUDED = "worker excluded"


@dataclass(frozen=True)
class ExclusionPreview:
    """The responses that excluding workers would discard, and the cost of replacing them."""

    responses: int
    tasks_reopened: int
    open_spot_checks: int
    slots: int
    cost: Decimal


def exclusion_preview(
    *, campaign: Campaign, workers: Sequence[Worker], slot_cost: Decimal
) -> ExclusionPreview:
    """Compute what the exclusion of these workers would do, without doing it. `slot_cost` is the
    reward of one assignment with its fee."""
    discarded = with_later(to_discard(campaign, workers), campaign)
    needed = _needed_again(campaign, discarded)
    slots = pages_for(needed, campaign.config)
    return ExclusionPreview(
        responses=discarded.count(),
        tasks_reopened=needed.total(),
        open_spot_checks=SpotCheck.objects.of(campaign)
        .open()
        .filter(response__in=discarded)
        .count(),
        slots=slots,
        cost=slots * slot_cost,
    )


def _needed_again(campaign: Campaign, discarded: ResponseQuerySet) -> Counter[int]:
    """Without these responses, how many tasks need how many more: {missing responses: tasks}.

    A task with more answers than it wanted needs one anew only if it loses more than those. One
    that was closed because workers could not describe its image opens again without enough of them.
    """
    rules, is_reason = campaign.config.captions, ~Q(cannot_describe="")
    left = Response.objects.of(campaign).counting().filter(is_reason).exclude(pk__in=discarded)
    reasons: dict[int, int] = {}
    if rules.cannot_describe:
        reasons = dict(left.order_by().values_list("task").annotate(Count("pk")))
    columns = ("task", "task__wanted", "task__answers_missing")
    rows = discarded.order_by().values_list(*columns)
    needed = Counter[int]()
    for task, wanted, missing, lost, lost_reasons in rows.annotate(
        lost=Count("pk"), lost_reasons=Count("pk", filter=is_reason)
    ):
        after = missing + lost
        if reasons.get(task, 0) >= rules.cannot_describe_quorum:
            after = missing
        elif reasons.get(task, 0) + lost_reasons >= rules.cannot_describe_quorum:
            after += campaign.config.wanted - wanted
        needed[max(0, after) - max(0, missing)] += 1
    del needed[0]
    return needed


def to_discard(campaign: Campaign, workers: Sequence[Worker]) -> ResponseQuerySet:
    """The workers' responses that an exclusion discards: all that count or, with
    `discard = "since_first_bad"`, those of each from the first one judged bad on."""
    counting = Response.objects.of(campaign).counting().filter(worker__in=workers).order_by("pk")
    return counting.filter(discarded_by_exclusion(campaign, [worker.pk for worker in workers]))


def count_unwelcome(campaign: Campaign) -> int:
    """The number of responses that count although an exclusion in force discards them. Takes two
    queries for any number of workers."""
    excluded = campaign.exclusions.in_force().values("worker")
    counting = Response.objects.of(campaign).counting().filter(worker__in=excluded)
    if campaign.config.review.discard == "all":
        return counting.count()
    first = first_bad(campaign, excluded)
    positions = counting.values_list("worker", "assessment__position").iterator()
    return sum(
        worker not in first or (position is not None and position >= first[worker])
        for worker, position in positions
    )


@transaction.atomic
def exclude_worker(
    *,
    campaign: Campaign,
    worker: Worker,
    reason: str,
    actor: User | None,
    at: datetime,
) -> int:
    """Exclude a worker and discard their responses. Returns the number of discarded responses.

    Their tasks then need as many more responses, and the next sync bars the worker at the
    marketplace. Payments do not change. Raises AlreadyExcluded, ReasonMissing.
    """
    reason = reason_given(reason, "exclusion")
    lock_worker(worker)
    lock_check_share(campaign)
    if campaign.exclusions.in_force().filter(worker=worker).exists():
        raise AlreadyExcluded(f"{worker} is already excluded from {campaign}.")
    campaign.exclusions.create(worker=worker, reason=reason, excluded_at=at)
    _log(campaign, worker, Act.EXCLUDE, reason, actor, at)
    campaign.proposals.open().filter(worker=worker).update(answered_at=at)
    pauses = campaign.pauses.in_force().filter(worker=worker)
    _end_pauses(pauses, reason=EXCLUDED, actor=actor, at=at)
    return discard_excluded(campaign=campaign, worker=worker, actor=actor, at=at)


def discard_excluded(
    *, campaign: Campaign, worker: Worker, actor: User | None, at: datetime
) -> int:
    """Discard the responses of an excluded worker that still count although the exclusion discards
    them. Returns their number; 0 if the worker is not excluded.

    A verdict can make this necessary: with `discard = "since_first_bad"`, a bad verdict on an
    earlier response discards the responses after it. The caller holds the worker's lock.
    """
    exclusion = campaign.exclusions.in_force().filter(worker=worker).first()
    if exclusion is None:
        return 0
    reason = f"worker excluded: {exclusion.reason}"
    return sum(
        len(
            discard_and_log(
                batch, campaign=campaign, reason=reason, actor=actor, at=at, names_worker=True
            )
        )
        for batch in in_batches(to_discard(campaign, [worker]))
    )


def discard_by_file(*, campaign: Campaign, at: datetime) -> None:
    """Let the exclusions in force discard what the campaign's file says, after a change of it."""
    excluded = campaign.exclusions.in_force().values("worker")
    for worker in Worker.objects.filter(pk__in=excluded).order_by("pk"):
        _discard_by_file(campaign, worker, at)


@transaction.atomic
def _discard_by_file(campaign: Campaign, worker: Worker, at: datetime) -> None:
    lock_worker(worker)
    lock_check_share(campaign)
    if not campaign.exclusions.in_force().filter(worker=worker).exists():
        return
    kept = _to_restore(campaign, worker).exclude(discarded_by_exclusion(campaign, [worker.pk]))
    reason = "the exclusion no longer discards it"
    restore_and_log(kept, campaign=campaign, reason=reason, actor=None, at=at, names_worker=True)
    discard_excluded(campaign=campaign, worker=worker, actor=None, at=at)


@transaction.atomic
def reinstate_worker(
    *,
    campaign: Campaign,
    worker: Worker,
    actor: User | None,
    reason: str,
    at: datetime,
) -> int:
    """Undo an exclusion, and restore the worker's responses if their tasks still have places,
    except those judged bad or to be rejected. Returns the number of restored responses. The policy
    takes no action against the worker until there are new bad verdicts. Raises NotExcluded."""
    lock_worker(worker)
    lock_check_share(campaign)
    in_force = campaign.exclusions.in_force().filter(worker=worker)
    if not in_force.update(lifted_at=at):
        raise NotExcluded(f"{worker} is not excluded from {campaign}.")
    reason = reason.strip()
    _log(campaign, worker, Act.REINSTATE, reason, actor, at)
    forgive(campaign, worker)
    restored = 0
    for batch in in_batches(_to_restore(campaign, worker)):
        reason = "worker reinstated"
        restored += len(
            restore_and_log(
                batch, campaign=campaign, reason=reason, actor=actor, at=at, names_worker=True
            )
        )
    return restored


@transaction.atomic
def pause_worker(
    *, campaign: Campaign, worker: Worker, reason: str, actor: User | None, at: datetime
) -> None:
    """Stop giving a worker new tasks. Their responses stay in the data, and a page that is open
    can still be submitted. A person's pause takes the place of one that the policy made, and would
    end. Raises AlreadyPaused, AlreadyExcluded, ReasonMissing."""
    reason = reason_given(reason, "pause")
    lock_worker(worker)
    if campaign.exclusions.in_force().filter(worker=worker).exists():
        raise AlreadyExcluded(f"{worker} is excluded from {campaign} and gets no tasks.")
    in_force = campaign.pauses.in_force().filter(worker=worker)
    if actor is not None:
        in_force.filter(is_by_policy=True).update(lifted_at=at)
    if in_force.exists():
        raise AlreadyPaused(f"{worker} is already paused in {campaign}.")
    campaign.pauses.create(worker=worker, reason=reason, is_by_policy=actor is None, paused_at=at)
    _log(campaign, worker, Act.PAUSE, reason, actor, at)


@transaction.atomic
def resume_worker(
    *, campaign: Campaign, worker: Worker, reason: str, actor: User | None, at: datetime
) -> None:
    """End a worker's pause. If a person ends it, the policy takes no action against the worker
    until there are new bad verdicts. Raises NotPaused."""
    lock_worker(worker)
    in_force = campaign.pauses.in_force().filter(worker=worker)
    if not in_force.update(lifted_at=at):
        raise NotPaused(f"{worker} is not paused in {campaign}.")
    _log(campaign, worker, Act.RESUME, reason.strip(), actor, at)
    if actor is not None:
        forgive(campaign, worker)


@transaction.atomic
def propose_exclusion(*, campaign: Campaign, worker: Worker, reason: str, at: datetime) -> bool:
    """Propose to exclude a worker, for a person to decide. Returns False if a proposal is open
    already. Raises AlreadyExcluded."""
    lock_worker(worker)
    if campaign.exclusions.in_force().filter(worker=worker).exists():
        raise AlreadyExcluded(f"{worker} is already excluded from {campaign}.")
    if campaign.proposals.open().filter(worker=worker).exists():
        return False
    campaign.proposals.create(worker=worker, reason=reason, proposed_at=at)
    _log(campaign, worker, Act.PROPOSE, reason, None, at)
    return True


def end_proposal(*, campaign: Campaign, worker: Worker, at: datetime) -> bool:
    """End the proposal to exclude a worker, if one is open, because its reason no longer holds.
    Returns whether there was one. Forgives nothing. The caller holds the worker's lock."""
    if not campaign.proposals.open().filter(worker=worker).update(answered_at=at):
        return False
    reason = "the reason for the proposal no longer holds"
    _log(campaign, worker, Act.DECLINE, reason, None, at)
    return True


@transaction.atomic
def decline_proposal(
    *, campaign: Campaign, worker: Worker, reason: str, actor: User | None, at: datetime
) -> None:
    """Dismiss the proposal to exclude a worker, and end a pause that the policy made. (To accept
    the proposal, call `exclude_worker`.) Raises NothingProposed."""
    lock_worker(worker)
    waiting = campaign.proposals.open().filter(worker=worker)
    if not waiting.update(answered_at=at):
        raise NothingProposed(f"There is no proposal to exclude {worker} from {campaign}.")
    _log(campaign, worker, Act.DECLINE, reason.strip(), actor, at)
    pauses = campaign.pauses.in_force().filter(worker=worker, is_by_policy=True)
    _end_pauses(pauses, reason="proposal dismissed", actor=actor, at=at)
    forgive(campaign, worker)


def _end_pauses(pauses: QuerySet[Pause], *, reason: str, actor: User | None, at: datetime) -> None:
    """End the worker's pause, if these have it, because of another decision."""
    for pause in pauses:
        Pause.objects.filter(pk=pause.pk).update(lifted_at=at)
        _log(pause.campaign, pause.worker, Act.RESUME, reason, actor, at)


def _log(
    campaign: Campaign, worker: Worker, act: Act, reason: str, actor: User | None, at: datetime
) -> None:
    Decision.objects.create(
        campaign=campaign, worker=worker, act=act, reason=reason, actor=actor, at=at
    )


def forgive(campaign: Campaign, worker: Worker) -> None:
    """Stop the policy from acting against the worker until there is a new bad verdict or another
    answer that fits no task."""
    forgive_unplaced(campaign=campaign, worker=worker)
    judged_bad = SpotCheck.objects.of(campaign).filter(verdict=Verdict.BAD, response__worker=worker)
    WorkerRisk.objects.update_or_create(
        campaign=campaign, worker=worker, defaults={"forgiven": judged_bad.count()}
    )


def forgive_one_less(response: Response) -> None:
    """Let one bad verdict less be forgiven if this response's, which has ended, was among them.
    Otherwise it would make up for a new one. The caller holds the worker's lock."""
    campaign, worker = response.task.campaign, response.worker_id
    verdicts = campaign.decisions.filter(response=response, act=Act.JUDGE_BAD)
    by_person = Q(act__in=[Act.DECLINE, Act.RESUME], actor__isnull=False) & ~Q(reason=EXCLUDED)
    in_favour = Q(act=Act.REINSTATE) | by_person
    last_bad = verdicts.aggregate(last=Max("pk", default=0))["last"]
    if campaign.decisions.filter(in_favour, worker=worker, pk__gt=last_bad).exists():
        forgiven = WorkerRisk.objects.of(campaign).filter(worker=worker, forgiven__gt=0)
        forgiven.update(forgiven=F("forgiven") - 1)


def discarded_with(response: Response) -> int:
    """How many other responses a bad verdict on this one discards: those that build on it, and
    those of its worker, if an exclusion in force discards them from the first bad one on."""
    campaign, worker = response.task.campaign, response.worker
    review = campaign.config.review
    own = Response.objects.counting().filter(pk=response.pk)
    is_excluded = campaign.exclusions.in_force().filter(worker=worker).exists()
    position = Assessment.objects.filter(response=response).values_list("position", flat=True)
    if review.discard == "all" or not is_excluded or not position:
        if response.round is None:
            return 0
        return with_later(own, campaign).exclude(pk=response.pk).count()
    counting = Response.objects.of(campaign).counting().filter(worker=worker)
    theirs = counting.filter(Q(assessment__position__gt=position[0]) | Q(pk__in=own.values("pk")))
    return with_later(theirs, campaign).exclude(pk=response.pk).count()


def is_discarded_by_exclusion(response: Response) -> bool:
    """Whether an exclusion in force discards the response, unless it is judged bad itself."""
    campaign, worker = response.task.campaign, response.worker
    if not campaign.exclusions.in_force().filter(worker=worker).exists():
        return False
    if campaign.config.review.discard == "all":
        return True
    first = first_bad(campaign, [worker.pk], but=response).get(worker.pk)
    before = Assessment.objects.filter(response=response, position__lt=first or 0)
    return not before.exists()


def restored_with(response: Response, *, is_bad: bool = False) -> list[Response]:
    """The other responses that count again with this one, because it was the first bad one of its
    worker, or is now, whose exclusion in force discards all from the first bad one on."""
    campaign, worker = response.task.campaign, response.worker
    is_excluded = campaign.exclusions.in_force().filter(worker=worker).exists()
    if campaign.config.review.discard == "all" or not is_excluded:
        return []
    but = None if is_bad else response
    first = first_bad(campaign, [worker.pk], but=but).get(worker.pk, 0)
    others = _to_restore(campaign, worker).filter(assessment__position__lt=first)
    return list(others.exclude(pk=response.pk))


def _to_restore(campaign: Campaign, worker: Worker) -> QuerySet[Response]:
    """The worker's discarded responses, except those that are judged bad or to be rejected. They
    include responses that a verdict discarded, if the verdict was changed during the exclusion."""
    discarded = Response.objects.of(campaign).filter(worker=worker, status=ResponseStatus.DISCARDED)
    return not_rejected(discarded, campaign).exclude(spot_check__verdict=Verdict.BAD)


@transaction.atomic
def record_appeal(
    *, campaign: Campaign, worker: Worker, text: str, actor: User | None, at: datetime
) -> Appeal:
    """Store what an excluded worker wrote. Raises CannotAppeal, ReasonMissing."""
    text = text_given(text, "what the worker wrote")
    lock_worker(worker)
    exclusion = campaign.exclusions.in_force().filter(worker=worker).first()
    if exclusion is None:
        raise CannotAppeal(f"{worker} is not excluded from {campaign}.")
    if exclusion.appeals.open().exists():
        raise CannotAppeal(f"{worker} already has an open appeal.")
    _log(campaign, worker, Act.APPEAL, "", actor, at)
    return Appeal.objects.create(exclusion=exclusion, text=text, received_at=at)


@transaction.atomic
def answer_appeal(
    *, appeal: Appeal, is_granted: bool, answer: str, actor: User, at: datetime
) -> int:
    """Grant or refuse an appeal. Returns the number of restored responses.

    If the appeal is granted and its exclusion is still in force, the exclusion is undone. A later
    exclusion of the same worker stays. Raises AlreadyAnswered, ReasonMissing.
    """
    answer = text_given(answer, "an answer: the worker has a right to one")
    campaign, worker = appeal.exclusion.campaign, appeal.exclusion.worker
    lock_worker(worker)
    waiting = Appeal.objects.open().filter(pk=appeal.pk)
    if not waiting.update(answer=answer, is_granted=is_granted, answered_at=at, answered_by=actor):
        raise AlreadyAnswered("This appeal is already answered.")
    _log(campaign, worker, Act.ANSWER, answer[:1024], actor, at)
    is_in_force = campaign.exclusions.in_force().filter(pk=appeal.exclusion_id).exists()
    if not is_granted or not is_in_force:
        return 0
    return reinstate_worker(
        campaign=campaign, worker=worker, actor=actor, reason="appeal granted", at=at
    )
