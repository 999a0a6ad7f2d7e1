"""Settle: carry out rejections, approve assignments whose review window is over, send bonuses.

The decisions on a few assignments are stored right before their calls (`hits.services.payments`).
The status of each changes only after its call succeeds. If the marketplace has decided already,
that decision is read.
"""

import time
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from hits.models import Assignment, AssignmentStatus, Bonus, HitStatus
from hits.mturk.connection import MarketplaceError
from hits.queries.costs import outstanding_slots
from hits.reconcile.reading import listed_or_gone
from hits.reconcile.run import (
    TOKENS_HOLD,
    Done,
    Run,
    ShareWork,
    StepStopped,
    assignment_name,
    bonus_name,
    held_shares,
    in_shares,
)
from hits.reconcile.storing import ask_for, recount
from hits.services.payments import put_back, record_decision, take_up
from qualcontrol.models import Act, Decision, HeldPayment
from shared.database.transactions import batches

# Decisions that are stored together. Until its own call, an assignment cannot be rejected.
TOGETHER = 10
# Fewer slots than these may all be filled while a sync pays, and only the next one adds others. So
# payments are short while answers are missing.
FEW_SLOTS, SHORT = 500, timedelta(seconds=10)
# Longer than TOKENS_HOLD, so that a bonus whose answer was lost is not given up.
GIVE_UP_AFTER = timedelta(days=1)


def settle(run: Run) -> None:
    """Carry out rejections, then approvals, oldest first, then bonuses: those of the run's shares
    that no other process is paying.

    Raises StepStopped if the requester's account is empty.
    """
    if held := HeldPayment.objects.of(run.campaign).open().count():
        run.done[Done.HELD] = held
    until = _payments_until(run)
    with held_shares(run.campaign, ShareWork.PAY, run.shares) as shares:
        decided: set[int] = set()
        stopped = None
        try:
            _decide(run, shares, decided, until)
        except StepStopped as error:
            stopped = error  # approvals that fail must not hold up bonuses
        finally:
            # Otherwise the next listing would show other counts, and these HITs would be read
            # again. Each is counted once, and not after each of its assignments.
            recount(decided)
        _send_bonuses(run, shares, until)
        if stopped:
            raise stopped
        run.is_cut_short |= len(shares) < len(run.shares)


def _payments_until(run: Run) -> float:
    """The time on the monotonic clock at which payments of this run stop."""
    if run.pays_for is None:
        return float("inf")
    are_few = 0 < outstanding_slots(run.campaign) < FEW_SLOTS
    is_short = are_few and run.campaign.tasks.unfinished().exists()
    pays_for = min(run.pays_for, SHORT) if is_short else run.pays_for
    return time.monotonic() + pays_for.total_seconds()


def _decide(run: Run, shares: Sequence[int], decided: set[int], until: float) -> None:
    """Carry out the due decisions, and add the keys of the HITs with decided assignments."""
    due, is_more = run.first_batch(_to_settle(run, shares), assignment_name, most=run.at_most)
    if is_more:
        run.is_cut_short = run.sync.has_more_to_pay = True
    for keys in batches(due, TOGETHER):
        if time.monotonic() >= until:
            run.is_cut_short = run.sync.has_more_to_pay = True
            return
        _settle_together(run, keys, decided)


def _settle_together(run: Run, keys: Sequence[int], decided: set[int]) -> None:
    """Decide on these assignments here, and then on one after the other at the marketplace."""
    taken = take_up(keys=keys, submitted_until=_submitted_until(run))
    waiting = dict(taken.assignments)
    try:
        for pk in keys:
            with run.alone(assignment_name(pk)):
                if (assignment := waiting.pop(pk, None)) and (hit := _settle(run, assignment)):
                    decided.add(hit)
    finally:
        # If the step was stopped, no call was made for these.
        for pk in waiting.keys() & taken.new:
            put_back(assignment=waiting[pk])


def _send_bonuses(run: Run, shares: Sequence[int], until: float) -> None:
    planned = Bonus.objects.unsent().filter(assignment__hit__campaign=run.campaign)
    planned = in_shares(planned, shares, hit="assignment__hit_id")
    planned = planned.select_related("assignment__account").order_by("pk")
    bonuses, is_more = run.first_batch(planned, bonus_name, most=run.at_most)
    if is_more:
        run.is_cut_short = run.sync.has_more_to_pay = True
    for bonus in bonuses:
        if time.monotonic() >= until:
            run.is_cut_short = run.sync.has_more_to_pay = True
            return
        with run.alone(bonus_name(bonus)):
            send(run, bonus)


def _to_settle(run: Run, shares: Sequence[int]) -> Iterable[int]:
    """The keys of assignments that can probably be decided now; `take_up` checks again."""
    assignments = in_shares(Assignment.objects.of(run.campaign), shares, hit="hit_id")
    undecided = assignments.undecided()
    rejections = run.campaign.decisions.filter(act=Act.REJECT).order_by("pk")
    asked = [
        *_undecided_among(rejections, "response__submission", shares),
        *_undecided_among(rejections, "held_payment__submission", shares),
    ]
    due = undecided.filter(
        Q(submitted_at__lte=_submitted_until(run), pk__in=undecided.payable()) | ~Q(deciding="")
    )
    others = due.order_by("submitted_at", "pk").values_list("pk", flat=True)
    return dict.fromkeys(chain(asked, others))


def _undecided_among(
    decisions: QuerySet[Decision], submission: str, shares: Sequence[int]
) -> QuerySet[Any, Any]:
    """The keys of the submitted assignments that the decisions name by this relation."""
    submitted = decisions.filter(
        **{f"{submission}__assignment__status": AssignmentStatus.SUBMITTED}
    )
    own = in_shares(submitted, shares, hit=f"{submission}__assignment__hit_id")
    return own.values_list(submission, flat=True)


def _submitted_until(run: Run) -> datetime:
    """When the review window starts, by the marketplace's clock, as submission times are."""
    window = timedelta(hours=run.campaign.config.review.approve_after_hours)
    return timezone.now() + run.marketplace.skew() - window


def _settle(run: Run, assignment: Assignment) -> int | None:
    """Carry out the decision at the marketplace; return the HIT if this decided the assignment."""
    try:
        if assignment.deciding == AssignmentStatus.REJECTED:
            run.marketplace.reject(assignment.assignment_id, assignment.feedback)
        else:
            run.marketplace.approve(assignment.assignment_id)
    except MarketplaceError as error:
        # The assignment is gone, or was decided by the marketplace or by a call whose answer was
        # lost.
        is_outdated = error.says_wrong_state or error.says_gone
        if error.says_gone and assignment.hit.status != HitStatus.GONE:
            # If its HIT is gone, too, the assignment's responses still count.
            listed_or_gone(run, assignment.hit)
        if is_outdated and ask_for(run, assignment):
            assignment.refresh_from_db(fields=["status"])
            return _count_settled(run, assignment, assignment.status)
        if is_outdated and not Assignment.objects.undecided().filter(pk=assignment.pk).exists():
            return None  # another reconciler has recorded the decision meanwhile
        if error.is_refusal:
            put_back(assignment=assignment)
        run.stop_without_funds(error)
        raise
    if record_decision(assignment=assignment, at=timezone.now()):
        return _count_settled(run, assignment, assignment.deciding)
    return None


def _count_settled(run: Run, assignment: Assignment, status: str) -> int:
    """Update the counts of the sync; return the key of the HIT, whose counts are out of date."""
    run.sync.approved += status == AssignmentStatus.APPROVED
    run.sync.rejected += status == AssignmentStatus.REJECTED
    return assignment.hit_id


def send(run: Run, bonus: Bonus) -> None:
    """Pay a planned bonus and record that it is sent. Raises StepStopped, MarketplaceError.

    The bonus's token makes a repeated call harmless, but the marketplace forgets tokens after a
    day. An older bonus, perhaps from a backup, is paid only if the marketplace does not list it.
    """
    assignment = bonus.assignment
    try:
        if not _is_sent(run, bonus):
            run.marketplace.send_bonus(
                worker_id=assignment.account.marketplace_id,
                assignment_id=assignment.assignment_id,
                amount=bonus.amount,
                reason=bonus.reason,
                token=bonus.token,
            )
    except MarketplaceError as error:
        run.stop_without_funds(error)
        if not _is_final(error, bonus):
            raise
        given_up = Bonus.objects.unsent().filter(pk=bonus.pk).update(refusal=str(error))
        run.done[Done.GIVEN_UP] += given_up
        return
    Bonus.objects.unsent().filter(pk=bonus.pk).update(sent_at=timezone.now())


def _is_final(error: MarketplaceError, bonus: Bonus) -> bool:
    """Whether the bonus is given up: it was tried for a day, and the marketplace refuses it, for
    example because the worker closed the account, or refuses to list the assignment's bonuses. In
    the first case, that list has shown that it was not sent."""
    is_old = bonus.planned_at < timezone.now() - GIVE_UP_AFTER
    return is_old and not error.may_pass and not error.is_general


def _is_sent(run: Run, bonus: Bonus) -> bool:
    """Whether the marketplace lists the bonus, so that it must not be paid again.

    Equal bonuses of an assignment cannot be told apart in the list: each is paid until it has as
    many as were planned.
    """
    equal = Bonus.objects.not_given_up().filter(
        assignment=bonus.assignment_id, amount=bonus.amount, reason=bonus.reason
    )
    planned = list(equal.values_list("planned_at", flat=True))
    if min(planned, default=bonus.planned_at) >= timezone.now() - TOKENS_HOLD:
        return False
    listed = run.marketplace.bonuses(bonus.assignment.assignment_id)
    number = sum((each.amount, each.reason) == (bonus.amount, bonus.reason) for each in listed)
    return number >= len(planned)
