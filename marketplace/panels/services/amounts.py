"""What a panel pays: the ledger's rows, what participants have earned above it, and what is still
due, which payouts leave out and an erasure waits for."""

from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Sum

from marketplace.models import (
    Account,
    AssignmentStatus,
    Participation,
    Transfer,
    TransferKind,
    Worker,
)
from marketplace.models.ledger import ROUTES
from marketplace.panels.models import (
    BatchState,
    BonusBatch,
    PanelPayment,
    PanelStudy,
    PanelSubmission,
    PanelTransfer,
    PaymentKind,
)
from marketplace.panels.panel import CENT, NOTHING, Spent, SubmissionStatus


@dataclass(frozen=True)
class Cost:
    """The cost of places at the panel."""

    rewards: Decimal
    fees: Decimal
    tax: Decimal

    @property
    def total(self) -> Decimal:
        return self.rewards + self.fees + self.tax


def cost_of(*, reward: Decimal, places: int) -> Cost:
    """The cost of places by the settings; the panel's own figure may differ."""
    fee, tax = charges_on(reward)
    return Cost(reward * places, fee * places, tax * places)


def charges_on(amount: Decimal) -> tuple[Decimal, Decimal]:
    """The panel's fee for a payment, and the VAT on the fee, by the settings."""
    fee = (amount * settings.PROLIFIC_SERVICE_FEE).quantize(CENT, ROUND_HALF_UP)
    return fee, (fee * settings.PROLIFIC_VAT).quantize(CENT, ROUND_HALF_UP)


def earned(participation: Participation) -> Decimal:
    """What the ledger credits to the participant for work in the study, without what payouts have
    paid."""
    return _credited(participation) - paid_out(participation)


def paid_out(participation: Participation) -> Decimal:
    """What payouts have paid to the participant for the study, before a submission was known."""
    mine = Participation.objects.filter(pk=participation.pk).values_list(last_payout(), flat=True)
    last = mine.first()
    return _credited(participation, pk__lt=last) if last else NOTHING


def last_payout() -> Subquery:
    """The key of the last payout that paid for a participation: of somebody who came before they
    took a place at the panel, and whose submission there was not known yet."""
    of_panel = PanelSubmission.objects.filter(participation=OuterRef(OuterRef("pk")))
    had_a_place = of_panel.filter(started_at__lte=OuterRef(OuterRef("started_at")))
    payouts = Transfer.objects.filter(
        ~Exists(had_a_place),
        kind=TransferKind.PAYOUT,
        worker=OuterRef("worker"),
        made_at__lt=Subquery(of_panel.order_by("known_since").values("known_since")[:1]),
    )
    # The rows that it paid have lower keys. A late automatic approval is dated before it, when it
    # was due.
    return Subquery(payouts.order_by("-pk").values("pk")[:1])


def _credited(participation: Participation, **limits: int) -> Decimal:
    mine = Transfer.objects.filter(target=Account.WORKER, **limits)
    return sum_of(mine.filter(assignment__in=participation.assignments()))


def assigned(participation: Participation) -> Decimal:
    """What the panel has paid or is asked to pay to the participant for the study."""
    payments = PanelPayment.objects.filter(submission__participation=participation)
    # A screen-out is paid for the questions before the HITs, and settles none of their rewards.
    live = payments.exclude(batch__state=BatchState.REFUSED).exclude(kind=PaymentKind.SCREEN_OUT)
    return sum_of(live) + _settled_in_part(participation)


def _settled_in_part(participation: Participation) -> Decimal:
    """The reward of a submission of which somebody has approved a part at the panel. It does not
    tell how much, so there is no payment here."""
    in_part = participation.panel_submissions.filter(status=SubmissionStatus.PARTIALLY_APPROVED)
    return in_part.aggregate(total=Sum("panel_study__reward"))["total"] or NOTHING


# What the panel pays by itself, by the status of the submission.
PAID_BY_STATUS: dict[str, PaymentKind] = {
    SubmissionStatus.APPROVED: PaymentKind.REWARD,
    SubmissionStatus.SCREENED_OUT: PaymentKind.SCREEN_OUT,
}


def record_reward(submission: PanelSubmission, *, at: datetime) -> None:
    """Write the rows of an approved or screened-out submission's reward, once."""
    kind, study = PAID_BY_STATUS[submission.status], submission.panel_study
    is_whole = kind == PaymentKind.REWARD
    amount = study.reward if is_whole else study.screen_out_reward
    if not amount:
        return
    payment, is_new = PanelPayment.objects.get_or_create(
        submission=submission, kind=kind, defaults={"amount": amount, "made_at": at}
    )
    if not is_new:
        return
    fee, tax = charges_on(amount)
    kinds = {
        TransferKind.PANEL_REWARD if is_whole else TransferKind.PANEL_SCREEN_OUT: amount,
        TransferKind.PANEL_FEE: fee,
        TransferKind.PANEL_TAX: tax,
    }
    _write(payment, kinds, at=at)


def record_batch(batch: BonusBatch, *, at: datetime) -> None:
    """Write the rows of a batch that the panel has paid, and its charges."""
    for payment in batch.payments.select_related("submission__participation__worker"):
        _write(payment, {TransferKind.PANEL_BONUS: payment.amount}, at=at)
    kinds = {TransferKind.PANEL_FEE: batch.fees, TransferKind.PANEL_TAX: batch.tax}
    _create(kinds, batch.panel_study, at=at, record={"batch": batch})


def _write(payment: PanelPayment, kinds: dict[TransferKind, Decimal], *, at: datetime) -> None:
    submission = payment.submission
    participation = submission.participation
    worker = participation.worker if participation is not None else None
    _create(kinds, submission.panel_study, at=at, record={"payment": payment}, worker=worker)


def _create(
    kinds: dict[TransferKind, Decimal],
    panel_study: PanelStudy,
    *,
    at: datetime,
    record: dict[str, Any],
    worker: Worker | None = None,
) -> None:
    """Write a row of the ledger, and what it records, for each amount that is not 0."""
    made = Transfer.objects.bulk_create(
        Transfer(
            kind=kind,
            source=ROUTES[kind][0],
            target=ROUTES[kind][1],
            amount=amount,
            requester=panel_study.study.hit_type.requester,
            made_at=at,
            worker=worker,
        )
        for kind, amount in kinds.items()
        if amount
    )
    PanelTransfer.objects.bulk_create(
        PanelTransfer(transfer=transfer, kind=transfer.kind, **record) for transfer in made
    )


def recorded(panel_study: PanelStudy) -> Spent:
    """What the ledger says that the study has cost at the panel."""
    rows = Transfer.objects.filter(target=Account.PANEL)
    of_rewards = rows.filter(at_panel__payment__submission__panel_study=panel_study)
    of_batches = rows.filter(at_panel__batch__panel_study=panel_study)

    def total(transfers: QuerySet[Transfer], *kinds: TransferKind) -> Decimal:
        return sum_of(transfers.filter(kind__in=kinds))

    return Spent(
        rewards=total(of_rewards, TransferKind.PANEL_REWARD, TransferKind.PANEL_SCREEN_OUT),
        reward_fees=total(of_rewards, TransferKind.PANEL_FEE),
        reward_tax=total(of_rewards, TransferKind.PANEL_TAX),
        bonuses=total(of_rewards, TransferKind.PANEL_BONUS),
        bonus_fees=total(of_batches, TransferKind.PANEL_FEE),
        bonus_tax=total(of_batches, TransferKind.PANEL_TAX),
    )


def sum_of(rows: QuerySet[Transfer] | QuerySet[PanelPayment]) -> Decimal:
    return rows.aggregate(total=Sum("amount"))["total"] or NOTHING


def paid_bonuses(submission: PanelSubmission) -> Decimal:
    """The bonuses of batches that the panel is known to have paid."""
    return sum_of(submission.payments.filter(batch__state=BatchState.PAID))


# What a panel still has to pay


ENDED = [
    SubmissionStatus.APPROVED,
    SubmissionStatus.PARTIALLY_APPROVED,
    SubmissionStatus.RETURNED,
    SubmissionStatus.REJECTED,
    SubmissionStatus.SCREENED_OUT,
    SubmissionStatus.TIMED_OUT,
]
# With these the panel pays what was earned above the reward.
PAYABLE = [
    SubmissionStatus.APPROVED,
    SubmissionStatus.PARTIALLY_APPROVED,
    SubmissionStatus.RETURNED,
    SubmissionStatus.SCREENED_OUT,
    SubmissionStatus.TIMED_OUT,
]


def participations_by_panel() -> QuerySet[Participation]:
    """Participations that the panel pays: of people with a submission there, and of those who came
    since the study was last read there, who may hold a place."""
    of_panel = PanelSubmission.objects.filter(participation=OuterRef("pk"))
    may_hold_a_place = Q(started_at__gte=F("study__at_panel__created_at"))
    may_hold_a_place &= ~Q(study__at_panel__external_id="")
    read_at = "study__at_panel__read_at"
    may_hold_a_place &= Q(**{read_at: None}) | Q(**{f"{read_at}__lte": F("started_at")})
    return Participation.objects.filter(may_hold_a_place | Exists(of_panel))


def credits_by_panel(workers: QuerySet[Worker] | None = None) -> dict[int, Decimal]:
    """Dollars that the ledger credits to workers for work in studies that a panel pays.

    By the worker's primary key. An assignment counts for the latest study that the worker had
    joined when it was accepted. Without what payouts have paid.
    """
    by_panel = participations_by_panel()
    if workers is not None:
        by_panel = by_panel.filter(worker__in=workers)
    latest = Participation.objects.filter(
        worker=OuterRef("worker"),
        study__hit_type=OuterRef("assignment__hit__hit_type"),
        started_at__lte=OuterRef("assignment__accepted_at"),
    ).order_by("-started_at", "-pk")
    rows = Transfer.objects.filter(target=Account.WORKER, worker__in=by_panel.values("worker"))
    rows = rows.alias(
        counts_for=Subquery(latest.values("pk")[:1]),
        last_payout=Subquery(latest.values(last=last_payout())[:1]),
    )
    unpaid = rows.filter(Q(last_payout=None) | Q(pk__gt=F("last_payout")))
    mine = unpaid.filter(counts_for__in=by_panel.values("pk")).order_by()
    return dict(mine.values_list("worker").annotate(Sum("amount")))


def undecided() -> QuerySet[Participation]:
    """Participations with a submission that the panel has not decided on."""
    waiting = PanelSubmission.objects.filter(participation=OuterRef("pk"))
    return Participation.objects.filter(Exists(waiting.exclude(status__in=ENDED)))


def obstacle_to_erasure(worker: Worker) -> str:
    """Why a panel still needs the worker's account; empty if none does."""
    mine = participations_by_panel().filter(worker=worker)
    if not any(map(_is_open, mine.select_related("study", "worker"))):
        return ""
    return (
        f"A panel has not decided on or not paid all that {worker} did in its studies yet. "
        "Erase the data when it has."
    )


def _is_open(participation: Participation) -> bool:
    """Whether a panel has yet to decide on the participant's submission, or to pay for it."""
    submissions = participation.panel_submissions.order_by("pk")
    if submissions.exclude(status__in=ENDED).exists():
        return True
    latest = submissions.last()
    if latest is None:
        # Also rejected work: a person decides on the submission that the next round may find.
        has_rejected = participation.assignments().filter(status=AssignmentStatus.REJECTED).exists()
        return has_rejected or earned(participation) > 0
    return latest.status in PAYABLE and earned(participation) > _paid(participation)


def _paid(participation: Participation) -> Decimal:
    payments = PanelPayment.objects.filter(submission__participation=participation)
    settled = payments.filter(Q(kind=PaymentKind.REWARD) | Q(batch__state=BatchState.PAID))
    return sum_of(settled) + _settled_in_part(participation)
