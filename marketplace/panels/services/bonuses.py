"""Pay what participants have earned above the study's reward, in batches, each sent once.

The panel's request that pays is not idempotent: sent twice, it pays twice. So a batch's state is
"sending" in the database before the request, and no state leads back to it.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, Subquery

from marketplace import clock
from marketplace.errors import StudyRefused
from marketplace.models import AssignmentStatus, Participation
from marketplace.panels.client import MOST_BONUSES, TIMEOUT, Prolific
from marketplace.panels.models import (
    BatchState,
    BonusBatch,
    PanelPayment,
    PanelStudy,
    PanelSubmission,
    PaymentKind,
)
from marketplace.panels.panel import NOTHING, PanelRefused, PanelUnclear, SubmissionStatus
from marketplace.panels.services.amounts import (
    assigned,
    charges_on,
    earned,
    paid_bonuses,
    record_batch,
    sum_of,
)

OPEN = [AssignmentStatus.SUBMITTED, AssignmentStatus.ACCEPTED]
# A request cannot still be on its way after this many seconds.
LOST_AFTER = 10 * sum(TIMEOUT)
REFUSED_ALONE_FOR = timedelta(days=1)


@transaction.atomic
def plan_batch(*, panel_study: PanelStudy, at: datetime) -> None:
    """Make a batch of the bonuses that are due, unless one was made lately."""
    # Lock first: another process may be making the same batch.
    locked = PanelStudy.objects.select_for_update().get(pk=panel_study.pk)
    latest = locked.batches.aggregate(at=Max("created_at"))["at"]
    if latest is not None and at - latest < settings.PROLIFIC_BONUS_EVERY:
        return
    if locked.batches.filter(state__in=[BatchState.PLANNED, BatchState.SET_UP]).exists():
        return
    earnings = (
        (submission, earned(participation) - assigned(participation))
        for submission, participation in _settled(locked, at)
    )
    positive = [(submission, amount) for submission, amount in earnings if amount > 0]
    due = _without_refused(locked, positive, at)
    if not due:
        return
    batch = BonusBatch.objects.create(panel_study=locked, created_at=at)
    PanelPayment.objects.bulk_create(
        PanelPayment(
            submission=submission, kind=PaymentKind.BONUS, amount=amount, batch=batch, made_at=at
        )
        for submission, amount in due
    )


_Due = tuple[PanelSubmission, Decimal]


def _without_refused(panel_study: PanelStudy, due: list[_Due], at: datetime) -> list[_Due]:
    """The bonuses of the next batch: those that the panel has not refused, or else half of those
    that it refused together. So one participant does not keep the others from being paid; a bonus
    that is refused alone is tried again after REFUSED_ALONE_FOR."""
    refused = _last_refused(panel_study)
    fresh = [bonus for bonus in due if bonus[0].pk not in refused]
    if fresh:
        return fresh[:MOST_BONUSES]
    again = [
        (refused[submission.pk].size, (submission, amount))
        for submission, amount in due
        if refused[submission.pk].size > 1 or refused[submission.pk].at <= at - REFUSED_ALONE_FOR
    ]
    most = max((size for size, _ in again), default=0)
    together = [bonus for size, bonus in again if size == most]
    return together[: max(1, most // 2)]


class _Refused(NamedTuple):
    size: int
    at: datetime


def _last_refused(panel_study: PanelStudy) -> dict[int, _Refused]:
    """The last batch of each submission whose list the panel refused, by the submission."""
    last = panel_study.batches.filter(payments__submission=OuterRef("pk")).order_by("-pk")
    rows = panel_study.submissions.annotate(last=Subquery(last.values("pk")[:1]))
    batches = panel_study.batches.filter(state=BatchState.REFUSED, external_id="")
    sizes = {
        batch.pk: _Refused(batch.size, batch.ended_at or batch.created_at)
        for batch in batches.annotate(size=Count("payments"))
    }
    last_batches = rows.filter(last__in=sizes).values_list("pk", "last")
    return {submission: sizes[batch] for submission, batch in last_batches}


def _settled(
    panel_study: PanelStudy, at: datetime
) -> Iterator[tuple[PanelSubmission, Participation]]:
    """Submissions that have the reward or will get none, with all HITs decided.

    Not rejected ones: what a person has rejected is not paid.
    """
    # The panel may still accept work that was returned or came late, and then pays the reward.
    since = at - settings.PROLIFIC_UNREWARDED_AFTER
    # Not a join with the payments: a submission with several would come several times.
    rewards = PanelPayment.objects.filter(submission=OuterRef("pk"), kind=PaymentKind.REWARD)
    has_reward = Q(Exists(rewards), status=SubmissionStatus.APPROVED)
    has_reward |= Q(status=SubmissionStatus.PARTIALLY_APPROVED)
    has_none = Q(
        status__in=[
            SubmissionStatus.RETURNED, SubmissionStatus.TIMED_OUT, SubmissionStatus.SCREENED_OUT,
        ],
        started_at__lte=since,
    )  # fmt: skip
    submissions = panel_study.submissions.filter(has_reward | has_none, participation__isnull=False)
    later = PanelSubmission.objects.filter(
        participation=OuterRef("participation"), panel_study=panel_study, pk__gt=OuterRef("pk")
    )
    rows = submissions.filter(~Exists(later)).select_related(
        "participation__study", "participation__worker"
    )
    for submission in rows.order_by("pk"):
        participation = submission.participation
        if participation is None or participation.assignments().filter(status__in=OPEN).exists():
            continue
        yield submission, participation


def go_on_with_batches(*, panel_study: PanelStudy, panel: Prolific, at: datetime) -> None:
    """Take each open batch one step on."""
    for batch in panel_study.batches.filter(state=BatchState.PLANNED).order_by("pk"):
        set_up(batch=batch, panel=panel, at=at)
    for batch in panel_study.batches.filter(state=BatchState.SET_UP).order_by("pk"):
        pay(batch=batch, panel=panel, at=at)
    _give_up_lost_requests(panel_study, at)
    for batch in panel_study.batches.filter(state=BatchState.SENT).order_by("pk"):
        confirm(batch=batch, panel=panel, at=at)


def set_up(*, batch: BonusBatch, panel: Prolific, at: datetime) -> None:
    """Hand the list to the panel, which pays nothing yet: this can be repeated."""
    rows = batch.payments.select_related("submission").order_by("pk")
    amounts = {row.submission.external_id: row.amount for row in rows}
    planned = BonusBatch.objects.filter(pk=batch.pk, state=BatchState.PLANNED)
    try:
        made = panel.set_up_bonuses(batch.panel_study.external_id, amounts)
    except PanelRefused as error:
        planned.update(state=BatchState.REFUSED, problem=str(error), ended_at=at)
        raise
    if made.amount != sum(amounts.values()):
        problem = f"The panel counts {made.amount} and not {sum(amounts.values())}. Not paid."
        planned.update(state=BatchState.REFUSED, problem=problem, ended_at=at)
        raise PanelRefused(problem)
    planned.update(
        state=BatchState.SET_UP, external_id=made.id, fees=made.fees, tax=made.tax, problem=""
    )


def pay(*, batch: BonusBatch, panel: Prolific, at: datetime) -> None:
    """Send the request that pays, once. If the panel has paid bonuses that are not recorded here,
    for example before a backup was restored, a person decides instead."""
    mine = BonusBatch.objects.filter(pk=batch.pk)
    has_unrecorded = _has_unrecorded(batch, panel)
    # The round may have begun long ago, and others count from the request.
    sending_at = max(at, clock.now())
    if has_unrecorded:
        problem = "The panel lists bonuses that are not recorded here, as after a restored backup."
        mine.filter(state=BatchState.SET_UP).update(
            state=BatchState.UNCLEAR, sending_at=sending_at, problem=problem
        )
        return
    # Committed before the request. Of two processes, one gets a row.
    if not mine.filter(state=BatchState.SET_UP).update(
        state=BatchState.SENDING, sending_at=sending_at
    ):
        return
    batch.refresh_from_db()
    sending = mine.filter(state=BatchState.SENDING)
    try:
        panel.pay_bonuses(batch.external_id)
    except PanelRefused as error:
        sending.update(state=BatchState.REFUSED, problem=str(error), ended_at=at)
        raise
    except PanelUnclear as error:
        sending.update(state=BatchState.UNCLEAR, problem=str(error))
        raise
    sending.update(state=BatchState.SENT)


def _has_unrecorded(batch: BonusBatch, panel: Prolific) -> bool:
    """Whether the panel lists more bonuses for one of the submissions than were ever sent."""
    sent = PanelPayment.objects.filter(batch__sending_at__isnull=False).exclude(
        batch__state=BatchState.REFUSED
    )
    for payment in batch.payments.select_related("submission").order_by("pk"):
        listed = sum(panel.bonuses_of(payment.submission.external_id), NOTHING)
        if listed > sum_of(sent.filter(submission=payment.submission)):
            return True
    return False


def _give_up_lost_requests(panel_study: PanelStudy, at: datetime) -> None:
    """Leave to a person what a process was sending when it ended."""
    for batch in panel_study.batches.filter(state=BatchState.SENDING):
        if batch.sending_at is not None and (at - batch.sending_at).total_seconds() > LOST_AFTER:
            BonusBatch.objects.filter(pk=batch.pk, state=BatchState.SENDING).update(
                state=BatchState.UNCLEAR,
                problem="The program ended while it sent the request that pays.",
            )


def read_bonuses(*, batch: BonusBatch, panel: Prolific) -> bool:
    """Read the participants' bonuses at the panel; return whether they contain this batch's."""
    is_paid = True
    for payment in batch.payments.select_related("submission").order_by("pk"):
        submission = payment.submission
        total = sum(panel.bonuses_of(submission.external_id), NOTHING)
        PanelSubmission.objects.filter(pk=submission.pk).update(bonuses_there=total)
        is_paid &= total >= paid_bonuses(submission) + payment.amount
    return is_paid


def confirm(*, batch: BonusBatch, panel: Prolific, at: datetime) -> None:
    """Record a batch as paid once the panel lists its bonuses; leave it to a person if the panel
    does not list them in time."""
    if read_bonuses(batch=batch, panel=panel):
        _end_as_paid(batch, from_state=BatchState.SENT, at=at)
    elif batch.sending_at and at - batch.sending_at >= settings.PROLIFIC_BONUS_SETTLES:
        BonusBatch.objects.filter(pk=batch.pk, state=BatchState.SENT).update(
            state=BatchState.UNCLEAR, problem="The panel does not list all of these bonuses."
        )


@transaction.atomic
def _end_as_paid(
    batch: BonusBatch, *, from_state: BatchState, at: datetime, operator: str = ""
) -> None:
    moved = BonusBatch.objects.filter(pk=batch.pk, state=from_state).update(
        state=BatchState.PAID, ended_at=at, problem="", decided_by=operator
    )
    if moved:
        record_batch(batch, at=at)


def decide_unclear(
    *, batch: BonusBatch, was_paid: bool, panel: Prolific, operator: str, at: datetime
) -> None:
    """A person's decision on a batch whose answer was lost; raises StudyRefused.

    Not paid means that the bonuses become due again, in another batch.
    """
    if was_paid:
        _check_unclear(batch)
        _end_as_paid(batch, from_state=BatchState.UNCLEAR, at=at, operator=operator)
        return
    _check_settled(batch, at)
    read_bonuses(batch=batch, panel=panel)
    if any(amount > 0 for _, amount in _listed(batch)):
        raise StudyRefused(
            "The panel lists at least one of these bonuses as paid. If it does not list all, "
            "settle each as it is listed."
        )
    _end_as_unpaid(batch, at=at, operator=operator)


def _end_as_unpaid(batch: BonusBatch, *, at: datetime, operator: str) -> None:
    BonusBatch.objects.filter(pk=batch.pk, state=BatchState.UNCLEAR).update(
        state=BatchState.REFUSED, ended_at=at, decided_by=operator
    )


def settle_as_listed(*, batch: BonusBatch, panel: Prolific, operator: str, at: datetime) -> None:
    """A person's decision to record of each bonus what the panel lists; the rest becomes due again,
    in another batch. Raises StudyRefused."""
    _check_settled(batch, at)
    read_bonuses(batch=batch, panel=panel)
    with transaction.atomic():
        # Lock first: another unclear batch can have bonuses of the same participants.
        PanelStudy.objects.select_for_update().get(pk=batch.panel_study_id)
        BonusBatch.objects.select_for_update().get(pk=batch.pk)
        _check_unclear(batch)
        listed = [(payment, amount) for payment, amount in _listed(batch) if amount > 0]
        if not listed:
            _end_as_unpaid(batch, at=at, operator=operator)
            return
        charges = [charges_on(amount) for _, amount in listed]
        for payment, amount in listed:
            batch.payments.filter(pk=payment.pk).update(amount=amount)
        unpaid = batch.payments.exclude(pk__in=[payment.pk for payment, _ in listed])
        if unpaid.exists():
            refused = BonusBatch.objects.create(
                panel_study=batch.panel_study, state=BatchState.REFUSED, decided_by=operator,
                external_id=batch.external_id, created_at=batch.created_at, ended_at=at,
                problem=f"The panel does not list these bonuses of batch {batch.pk}.",
            )  # fmt: skip
            unpaid.update(batch=refused)
        # The panel has charged for what it lists, maybe as parts of other batches.
        BonusBatch.objects.filter(pk=batch.pk).update(
            fees=sum((fee for fee, _ in charges), NOTHING),
            tax=sum((tax for _, tax in charges), NOTHING),
        )
        batch.refresh_from_db()
        _end_as_paid(batch, from_state=BatchState.UNCLEAR, at=at, operator=operator)


def _check_unclear(batch: BonusBatch) -> None:
    batch.refresh_from_db()
    if batch.state != BatchState.UNCLEAR:
        raise StudyRefused("This batch is not unclear any more.")


def _check_settled(batch: BonusBatch, at: datetime) -> None:
    """Raises StudyRefused if the batch is not unclear, or the panel may still be paying it."""
    _check_unclear(batch)
    if batch.sending_at is None or at - batch.sending_at < settings.PROLIFIC_BONUS_SETTLES:
        minutes = int(settings.PROLIFIC_BONUS_SETTLES.total_seconds() // 60)
        raise StudyRefused(
            f"The panel may still be paying. Decide {minutes} minutes after the request at the "
            "earliest."
        )


def _listed(batch: BonusBatch) -> list[tuple[PanelPayment, Decimal]]:
    """The batch's bonuses, and how much the panel lists for each above those known to be paid."""
    payments = batch.payments.select_related("submission").order_by("pk")
    return [
        (payment, payment.submission.bonuses_there - paid_bonuses(payment.submission))
        for payment in payments
    ]
