"""Which work a panel pays by its API: payouts leave it out, and an erasure waits for it."""

from decimal import Decimal

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Sum

from marketplace.models import Account, Participation, Transfer, Worker
from marketplace.panels.models import BatchState, PanelPayment, PanelSubmission, PaymentKind
from marketplace.panels.panel import SubmissionStatus

from .amounts import earned, paid_until

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
    SubmissionStatus.RETURNED,
    SubmissionStatus.SCREENED_OUT,
    SubmissionStatus.TIMED_OUT,
]


def participations_by_panel() -> QuerySet[Participation]:
    """Participations that the panel pays: not of people who came before the study was there."""
    there = PanelSubmission.objects.filter(participation=OuterRef("pk"))
    came_through_it = Q(started_at__gte=F("study__at_panel__created_at"))
    came_through_it &= ~Q(study__at_panel__external_id="")
    return Participation.objects.filter(came_through_it | Exists(there))


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
        paid_until=Subquery(latest.values(until=paid_until())[:1]),
    )
    unpaid = rows.filter(Q(paid_until=None) | Q(made_at__gt=F("paid_until")))
    mine = unpaid.filter(counts_for__in=by_panel.values("pk")).order_by()
    return dict(mine.values_list("worker").annotate(Sum("amount")))


def undecided() -> QuerySet[Participation]:
    """Participations with a submission that the panel has not decided on."""
    waiting = PanelSubmission.objects.filter(participation=OuterRef("pk"))
    return Participation.objects.filter(Exists(waiting.exclude(status__in=ENDED)))


def obstacle_to_erasure(worker: Worker) -> str:
    """Why a panel still needs the worker's account; empty if none does."""
    if not is_awaited(worker):
        return ""
    return (
        f"A panel has not decided on or not paid all that {worker} did in its studies yet. "
        "Erase the data when it has."
    )


def is_awaited(worker: Worker) -> bool:
    """Whether a panel has yet to decide on the worker's submissions, or to pay for them."""
    mine = participations_by_panel().filter(worker=worker)
    return any(map(_is_open, mine.select_related("study__at_panel", "study__hit_type", "worker")))


def _is_open(participation: Participation) -> bool:
    submissions = participation.panel_submissions.order_by("pk")
    if submissions.exclude(status__in=ENDED).exists():
        return True
    latest = submissions.last()
    if latest is None:
        # A study that was read since then has no submission of this participant's.
        at_panel = participation.study.at_panel
        is_read = at_panel.read_at is not None and at_panel.read_at > participation.started_at
        return bool(at_panel.external_id) and not is_read and earned(participation) > 0
    return latest.status in PAYABLE and earned(participation) > _paid(participation)


def _paid(participation: Participation) -> Decimal:
    payments = PanelPayment.objects.filter(submission__participation=participation)
    done = payments.filter(Q(kind=PaymentKind.REWARD) | Q(batch__state=BatchState.PAID))
    return done.aggregate(total=Sum("amount"))["total"] or Decimal("0.00")
