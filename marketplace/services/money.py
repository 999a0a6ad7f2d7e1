"""Move money: holds, fees, bonuses and payouts. Every transfer is a guarded update of balances and
a row in the ledger.

No other module changes balances.
"""

from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, OuterRef, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce

from marketplace import clock
from marketplace.errors import InsufficientFunds
from marketplace.extensions import extensions
from marketplace.models import (
    Account,
    Assignment,
    AssignmentStatus,
    BonusPayment,
    Hit,
    HitType,
    Requester,
    Transfer,
    TransferKind,
    Worker,
)
from marketplace.models.fields import MOST, MoneyField
from marketplace.models.ledger import ROUTES

CENT = Decimal("0.01")


def assignment_fee(hit_type: HitType, *, max_assignments: int) -> Decimal:
    """The fee for one assignment of the HIT type, in dollars, including qualification fees."""
    wanted = {
        requirement["QualificationTypeId"]
        for requirement in hit_type.qualification_requirements
        if requirement["Comparator"] != "DoesNotExist"
    }
    share = settings.MTURK_FEE_SHARE
    if max_assignments >= settings.MTURK_LARGE_HIT_ASSIGNMENTS:
        share += settings.MTURK_LARGE_HIT_FEE_SHARE
    if not wanted.isdisjoint(settings.MTURK_MASTERS_IDS):
        share += settings.MTURK_MASTERS_FEE_SHARE
    premium = sum(Decimal(settings.MTURK_PREMIUM_FEES.get(type_id, 0)) for type_id in wanted)
    return _fee(hit_type.reward, share) + premium


def _fee(amount: Decimal, share: Decimal) -> Decimal:
    """The fee for a reward or bonus in dollars; 0 if that is 0."""
    if amount == 0:
        return Decimal("0.00")
    return max((amount * share).quantize(CENT, ROUND_HALF_UP), settings.MTURK_LEAST_FEE)


BALANCES = {Account.AVAILABLE: "available_balance", Account.HELD: "held_balance"}


@transaction.atomic(savepoint=False)
def move_money(
    *, requester: Requester, kinds: dict[TransferKind, Decimal], at: datetime, **about: Any
) -> None:
    """Make all transfers or none; raises InsufficientFunds.

    `about` are further fields of the transfers, such as the HIT and the worker.
    """
    changes: dict[str, Decimal] = {}
    transfers = []
    for kind, amount in kinds.items():
        if amount == 0:
            continue
        if amount > MOST:
            raise InsufficientFunds
        source, target = ROUTES[kind]
        for account, change in ((source, -amount), (target, amount)):
            if account in BALANCES:
                name = BALANCES[account]
                changes[name] = changes.get(name, Decimal()) + change
        transfers.append(
            Transfer(
                kind=kind,
                source=source,
                target=target,
                amount=amount,
                requester=requester,
                made_at=at,
                **about,
            )
        )
    if changes:
        _change_balances(requester, changes)
    if transfers:
        Transfer.objects.bulk_create(transfers)


def _change_balances(requester: Requester, changes: dict[str, Decimal]) -> None:
    enough = {f"{name}__gte": -change for name, change in changes.items() if change < 0}
    sums = {name: F(name) + Value(change, MoneyField()) for name, change in changes.items()}
    if not Requester.objects.filter(pk=requester.pk, **enough).update(**sums):
        raise InsufficientFunds


def hold(*, hit: Hit, slots: int, at: datetime) -> None:
    """Reserve the cost of this number of assignments; raises InsufficientFunds."""
    move_money(requester=hit.requester, kinds={TransferKind.HOLD: hit.cost * slots}, hit=hit, at=at)


def release(*, hit: Hit, slots: int, at: datetime) -> None:
    """Return the reserved cost of this number of assignments to the available balance."""
    move_money(
        requester=hit.requester, kinds={TransferKind.RELEASE: hit.cost * slots}, hit=hit, at=at
    )


def pay_bonus(*, bonus: BonusPayment, at: datetime) -> None:
    """Pay a bonus and its fee from the available balance; raises InsufficientFunds."""
    move_money(
        requester=bonus.requester,
        kinds={
            TransferKind.BONUS: bonus.amount,
            TransferKind.BONUS_FEE: _fee(bonus.amount, settings.MTURK_FEE_SHARE),
        },
        at=at,
        worker_id=bonus.worker_id,
        hit_id=bonus.hit_id,
        assignment_id=bonus.assignment_id,
        bonus=bonus,
    )


def with_rewards(assignments: QuerySet[Assignment]) -> QuerySet[Any]:
    """The assignments with `reward`: what was paid, what would have been paid for rejected work, or
    what the HIT pays."""
    paid = Transfer.objects.filter(kind=TransferKind.REWARD, assignment=OuterRef("pk"))
    # There is no transfer of $0.
    unpaid = Case(
        When(status=AssignmentStatus.APPROVED, then=Value(Decimal(), MoneyField())),
        default=Coalesce("rejected_reward", "hit__hit_type__reward"),
    )
    return assignments.annotate(reward=Coalesce(Subquery(paid.values("amount")), unpaid))


# Payouts


def balances(workers: QuerySet[Worker] | None = None) -> dict[int, Decimal]:
    """Amount in dollars that each worker has earned and not been paid, by primary key.

    Without what is paid elsewhere.
    """
    of_workers = Transfer.objects.filter(worker__isnull=False)
    if workers is not None:
        of_workers = of_workers.filter(worker__in=workers)
    earned = of_workers.filter(target=Account.WORKER)
    paid = of_workers.filter(source=Account.WORKER).exclude(target=Account.PANEL)
    totals = _by_worker(earned)
    for less in (_by_worker(paid), *(extension.credits(workers) for extension in extensions())):
        for pk, total in less.items():
            totals[pk] = totals.get(pk, Decimal()) - total
    return {pk: total for pk, total in totals.items() if total > 0}


def _by_worker(rows: QuerySet[Transfer]) -> dict[int, Decimal]:
    return dict(rows.order_by().values_list("worker").annotate(Sum("amount")))


@transaction.atomic
def pay_out(*, at: datetime) -> int:
    """Pay out all balances as one payout; return the number of workers."""
    # Locks prevent two concurrent payouts from paying the same balance. They are taken in one
    # order, and leave rows that refer to the workers to others, so that they cannot deadlock.
    due = balances()
    workers = Worker.objects.filter(pk__in=due).order_by("pk").select_for_update(no_key=True)
    locked = list(workers.values_list("pk", flat=True))
    due = balances(Worker.objects.filter(pk__in=locked))
    # When the locks are held: a submission at a panel that was stored meanwhile is left out.
    made_at = max(at, clock.now())
    Transfer.objects.bulk_create(
        Transfer(
            kind=TransferKind.PAYOUT,
            source=Account.WORKER,
            target=Account.OUTSIDE,
            amount=amount,
            worker_id=pk,
            made_at=made_at,
        )
        for pk, amount in sorted(due.items())
    )
    return len(due)
