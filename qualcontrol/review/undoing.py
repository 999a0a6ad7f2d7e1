"""Undo: a reviewer takes back a judgement, a person changes a verdict or restores a response.

The decision log keeps what was decided before. Nothing here overrules the exclusion of a worker or
the rejection of an assignment: for that, reinstate the worker or leave the assignment unrejected.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q

from annotate.models import Campaign, Response, ResponseStatus, Submission
from annotate.services.responses import continues_chain, lock_tasks
from qualcontrol.flags import BREAKS_RULES
from qualcontrol.models import (
    Act,
    Assessment,
    Gold,
    GoldAnswer,
    Judgement,
    Reservation,
    SpotCheck,
    Verdict,
)
from qualcontrol.models.checks import RESERVED_FOR
from qualcontrol.review.judging import discard_bad
from qualcontrol.services.discards import log, not_rejected, open_rounds, restore_and_log
from qualcontrol.services.errors import (
    AlreadyJudged,
    CannotRestore,
    NothingToTakeBack,
    text_given,
)
from qualcontrol.services.exclusions import (
    discard_excluded,
    discarded_with,
    forgive_one_less,
    is_discarded_by_exclusion,
    restored_with,
    to_discard,
)
from qualcontrol.services.held_payments import hold_again
from qualcontrol.services.locks import locked_response
from qualcontrol.services.policies import count_and_decide
from qualcontrol.services.sampling import (
    draw_missing_firsts,
    drop_rest_of_trial,
    is_surplus_first,
    lock_check_share,
)
from qualcontrol.services.worker_risks import note_changes


@dataclass(frozen=True)
class UndoPreview:
    """The effects of changing a response's verdict, or of restoring it.

    `obstacle` says why the response cannot count again; empty if it can, or does.
    """

    verdict: str
    counts: bool
    obstacle: str
    # Responses that are discarded if the verdict becomes bad, this one included.
    discards: int


def undo_preview(response: Response) -> UndoPreview:
    """Compute what the changes would move, without making them. The response needs `task` with its
    campaign, and `worker`."""
    counts = response.status == ResponseStatus.SUBMITTED
    check = SpotCheck.objects.filter(response=response).first()
    return UndoPreview(
        verdict=check.verdict if check else "",
        counts=counts,
        obstacle="" if counts else _obstacle(response),
        discards=1 + discarded_with(response) if counts else discarded_with(response),
    )


def last_judged(campaign: Campaign, reviewer: User) -> UUID | None:
    """The key of the item that the reviewer judged last, if they can take it back now."""
    last = last_judgement(campaign, reviewer)
    return last[0] if last and not why_it_stays(last[1]) else None


def why_it_stays(judgement: Judgement | GoldAnswer) -> str:
    """Why a reviewer's last judgement cannot be taken back now: the response that it discarded
    cannot count again. Empty if it can."""
    if isinstance(judgement, GoldAnswer) or judgement.spot_check.verdict != Verdict.BAD:
        return ""
    response = judgement.spot_check.response
    return "" if response.status == ResponseStatus.SUBMITTED else _obstacle(response)


def last_judgement(
    campaign: Campaign, reviewer: User
) -> tuple[UUID, Judgement | GoldAnswer] | None:
    """The reviewer's last judgement that is not overruled, with the key of its item."""
    judgements = Judgement.objects.filter(
        spot_check__campaign=campaign,
        spot_check__is_changed=False,
        spot_check__response__gold=None,
        reviewer=reviewer,
    ).exclude(~Q(spot_check__verdict="") & ~Q(spot_check__verdict=F("verdict")))
    answers = GoldAnswer.objects.filter(gold__campaign=campaign, reviewer=reviewer)
    related = ("spot_check__response__task__campaign", "spot_check__response__worker")
    last = judgements.order_by("-at", "-pk").select_related(*related).first()
    gold = answers.order_by("-at", "-pk").select_related("gold__response").first()
    if gold is not None and (last is None or gold.at > last.at):
        return (gold.gold.response.key if gold.gold.response else gold.gold.key), gold
    return (last.spot_check.response.key, last) if last else None


def take_back(*, campaign: Campaign, key: UUID, reviewer: User, at: datetime) -> None:
    """Take back the reviewer's own judgement of the item with this key. The item then waits for
    that reviewer again, and a response that the verdict discarded counts again.

    Raises NothingToTakeBack, CannotRestore, Response.DoesNotExist.
    """
    gold = Gold.objects.of(campaign).with_key(key).first()
    if gold is not None:
        taken, _ = GoldAnswer.objects.filter(gold=gold, reviewer=reviewer).delete()
        if not taken:
            raise NothingToTakeBack(NOT_YOURS)
        return
    response = Response.objects.of(campaign).get(key=key)
    if _take_back(response, reviewer, at):
        count_and_decide(campaign=campaign, at=at)


NOT_YOURS = "You have no verdict on this response that you could take back."
DECIDED = (
    "The verdict of this response is somebody's later decision, so your judgement stays. To change "
    "the verdict, open the response."
)


@transaction.atomic
def _take_back(response: Response, reviewer: User, at: datetime) -> bool:
    """Delete the judgement and reopen the check. Returns whether there was a verdict."""
    response = locked_response(response.pk)
    if Gold.objects.filter(response=response).exists():
        raise NothingToTakeBack(NOT_YOURS)  # somebody has just marked it
    campaign = response.task.campaign
    lock_check_share(campaign)
    mine = Judgement.objects.filter(spot_check__response=response, reviewer=reviewer).first()
    if mine is None:
        raise NothingToTakeBack(NOT_YOURS)
    check = SpotCheck.objects.get(response=response)
    if check.is_changed or check.verdict not in ("", mine.verdict):
        raise NothingToTakeBack(DECIDED)
    mine.delete()
    Reservation.objects.update_or_create(
        response=response,
        defaults={"campaign": campaign, "reviewer": reviewer, "until": at + RESERVED_FOR},
    )
    if check.verdict:
        log([response], campaign=campaign, act=Act.TAKE_BACK, reason="", actor=reviewer, at=at)
        SpotCheck.objects.filter(pk=check.pk).update(verdict="", reason="", judged_at=None)
        if check.verdict == Verdict.BAD:
            _restore(response, reviewer, "verdict taken back", at)
            check.refresh_from_db(fields=["is_first"])  # it may take the place of a first one now
            forgive_one_less(response)
            drop_rest_of_trial(campaign=campaign, worker=response.worker_id)
        elif check.is_first and response.status == ResponseStatus.DISCARDED:
            # Withdrawn since its verdict, so another one takes its place.
            draw_missing_firsts(campaign=campaign, worker=response.worker_id, at=at)
        open_rounds(campaign, {response.task_id})
        hold_again(response.submission_id)
        note_changes(campaign, [response.worker_id])
    _drop_if_not_required(check, campaign, response.worker_id)
    return bool(check.verdict)


def _drop_if_not_required(check: SpotCheck, campaign: Campaign, worker: int) -> None:
    """Delete a check that no judgement is left of, if only a judgement had made it or if it is no
    longer a wanted first one. A release need not wait for it."""
    if check.is_first and is_surplus_first(check, campaign=campaign, worker=worker):
        check.is_first = False
        check.save(update_fields=["is_first"])
    if not is_required(check) and not check.judgements.exists():
        check.delete()


def is_required(check: SpotCheck) -> bool:
    """Whether the check was drawn, and not made by a judgement."""
    return check.is_random or check.is_first or breaks_rules(check.response_id)


def breaks_rules(response: int) -> bool:
    """Whether the response with this key has the flag for breaking the campaign's rules."""
    codes = Assessment.objects.filter(response=response).values_list("codes", flat=True)
    return BREAKS_RULES in " ".join(codes).split()


def change_verdict(
    *, response: Response, verdict: Verdict | str, reason: str, actor: User, at: datetime
) -> bool:
    """Replace the verdict of a response. A bad one discards it; with a good one it counts again if
    its task still needs a response. Returns whether it counts. The judgements stay as they were
    made.

    Raises AlreadyJudged if it has this verdict, NothingToTakeBack if it has none, ReasonMissing.
    """
    campaign = response.task.campaign
    counts = _change_verdict(response, Verdict(verdict), reason, actor, at)
    count_and_decide(campaign=campaign, at=at)
    return counts


@transaction.atomic
def _change_verdict(
    response: Response, verdict: Verdict, reason: str, actor: User, at: datetime
) -> bool:
    reason = text_given(reason, "a reason for the change. It is kept in the decision log")[:300]
    response = locked_response(response.pk)
    campaign = response.task.campaign
    lock_check_share(campaign)
    check = SpotCheck.objects.filter(response=response).exclude(verdict="").first()
    if check is None:
        raise NothingToTakeBack("This response has no verdict yet. Judge it in the review queue.")
    if check.verdict == verdict:
        raise AlreadyJudged(f"This response is already judged {verdict.label.lower()}.")
    SpotCheck.objects.filter(pk=check.pk).update(
        verdict=verdict,
        reason=reason if verdict == Verdict.BAD else "",
        judged_at=at,
        is_changed=True,
    )
    act = Act.JUDGE_GOOD if verdict == Verdict.GOOD else Act.JUDGE_BAD
    log([response], campaign=campaign, act=act, reason=reason, actor=actor, at=at)
    # Reviewers are measured by the verdict that holds.
    Gold.objects.filter(response=response).update(verdict=verdict, reason=reason)
    restored = restored_with(response, is_bad=verdict == Verdict.BAD)
    if campaign.exclusions.in_force().filter(worker=response.worker).exists():
        # All at once and in order, as in `discard_bad`.
        others = to_discard(campaign, [response.worker]).values_list("task_id", flat=True)
        lock_tasks([response.task_id, *others, *(other.task_id for other in restored)])
    if verdict == Verdict.GOOD:
        forgive_one_less(response)
        drop_rest_of_trial(campaign=campaign, worker=response.worker_id)
        again = [] if _obstacle(response) else [response]
        _restore_all([*again, *restored], actor, "verdict changed to good", at)
        # Without a bad response, an exclusion discards all.
        discard_excluded(campaign=campaign, worker=response.worker, actor=actor, at=at)
    else:
        if response.status == ResponseStatus.SUBMITTED:
            discard_bad(response, campaign, reason, actor, at)
        else:
            # It may be the first bad one now, from which on an exclusion discards all.
            discard_excluded(campaign=campaign, worker=response.worker, actor=actor, at=at)
        # Without a bad one, the exclusion had discarded those before it, too.
        _restore_all(restored, actor, "verdict changed to bad", at)
        if check.is_first:
            draw_missing_firsts(campaign=campaign, worker=response.worker_id, at=at)
    open_rounds(campaign, {response.task_id})
    note_changes(campaign, [response.worker_id])
    return response.status == ResponseStatus.SUBMITTED


@transaction.atomic
def restore_response(*, response: Response, reason: str, actor: User, at: datetime) -> None:
    """Let a discarded response count again. Raises CannotRestore, ReasonMissing."""
    reason = text_given(reason, "a reason. It is kept in the decision log")
    response = locked_response(response.pk)
    lock_check_share(response.task.campaign)
    if response.status == ResponseStatus.SUBMITTED:
        raise CannotRestore("This response counts already.")
    if SpotCheck.objects.filter(response=response, verdict=Verdict.BAD).exists():
        raise CannotRestore("This response is judged bad. Change its verdict to good instead.")
    _restore(response, actor, reason, at)
    note_changes(response.task.campaign, [response.worker_id])


def _restore(response: Response, actor: User, reason: str, at: datetime) -> None:
    """The caller holds the locks of the worker and the response. Raises CannotRestore."""
    if response.status == ResponseStatus.SUBMITTED:
        return
    if obstacle := _obstacle(response):
        raise CannotRestore(obstacle)
    _restore_all([response, *restored_with(response)], actor, reason, at)
    if response.status != ResponseStatus.SUBMITTED:
        raise CannotRestore(NO_PLACE)


def _restore_all(responses: Sequence[Response], actor: User, reason: str, at: datetime) -> None:
    """Restore those that can count again. All at once, so that their tasks are locked in order."""
    if responses:
        campaign = responses[0].task.campaign
        restore_and_log(responses, campaign=campaign, reason=reason, actor=actor, at=at)


NO_PLACE = "Another response has taken its place, so it stays discarded."


def _obstacle(response: Response) -> str:
    """Why a discarded response cannot count again; empty if it can."""
    campaign, worker = response.task.campaign, response.worker
    if response.withdrawn_at is not None:
        return "The person has withdrawn it, so it stays discarded."
    if Submission.objects.filter(responses=response).exclude(lost_at=None).exists():
        return "The marketplace does not have its assignment, so it stays discarded."
    if not not_rejected(Response.objects.filter(pk=response.pk), campaign).exists():
        return "The rejection of its assignment was decided, so it stays discarded."
    if is_discarded_by_exclusion(response):
        return f"{worker} is excluded. Reinstate the worker first."
    if not type(response.task).objects.filter(pk=response.task_id, answers_missing__gt=0).exists():
        return NO_PLACE
    if not continues_chain(response):
        return "It does not build on the last version that counts, so it stays discarded."
    return ""
