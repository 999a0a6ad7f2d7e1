"""Move money. Every transfer is a guarded update of balances and a row in the ledger.

No other module changes balances.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Value

from marketplace.errors import InsufficientFunds
from marketplace.models import (
    Account,
    BonusPayment,
    Hit,
    HitType,
    Requester,
    Transfer,
    TransferKind,
)
from marketplace.models.fields import MOST, MoneyField
from marketplace.models.ledger import ROUTES

CENT = Decimal("0.01")


@dataclass(frozen=True)
class FeeSchedule:
    """The marketplace's fees: shares of amounts, and the least for one payment."""

    share: Decimal
    large_hit_share: Decimal
    large_hit_assignments: int
    least: Decimal
    masters_share: Decimal = Decimal(0)

    def for_assignment(
        self, reward: Decimal, *, max_assignments: int, wants_masters: bool = False
    ) -> Decimal:
        """The fee for one assignment of a HIT in dollars; 0 if the reward is 0."""
        share = self.share
        if max_assignments >= self.large_hit_assignments:
            share += self.large_hit_share
        if wants_masters:
            share += self.masters_share
        return self._fee(reward, share)

    def for_bonus(self, amount: Decimal) -> Decimal:
        """The fee for one bonus in dollars."""
        return self._fee(amount, self.share)

    def _fee(self, amount: Decimal, share: Decimal) -> Decimal:
        if amount == 0:
            return Decimal("0.00")
        return max((amount * share).quantize(CENT, ROUND_HALF_UP), self.least)


BALANCES = {Account.AVAILABLE: "available_balance", Account.HELD: "held_balance"}


def fee_schedule() -> FeeSchedule:
    """The fees in the settings."""
    return FeeSchedule(
        share=settings.MTURK_FEE_SHARE,
        large_hit_share=settings.MTURK_LARGE_HIT_FEE_SHARE,
        large_hit_assignments=settings.MTURK_LARGE_HIT_ASSIGNMENTS,
        least=settings.MTURK_LEAST_FEE,
        masters_share=settings.MTURK_MASTERS_FEE_SHARE,
    )


def assignment_fee(hit_type: HitType, *, max_assignments: int) -> Decimal:
    """The fee for one assignment of the HIT type, in dollars, including qualification fees."""
    wanted = {
        each["QualificationTypeId"]
        for each in hit_type.qualification_requirements
        if each["Comparator"] != "DoesNotExist"
    }
    fee = fee_schedule().for_assignment(
        hit_type.reward,
        max_assignments=max_assignments,
        wants_masters=not wanted.isdisjoint(settings.MTURK_MASTERS_IDS),
    )
    return fee + sum(Decimal(settings.MTURK_PREMIUM_FEES.get(each, 0)) for each in wanted)


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
            TransferKind.BONUS_FEE: fee_schedule().for_bonus(bonus.amount),
        },
        at=at,
        worker_id=bonus.worker_id,
        hit_id=bonus.hit_id,
        assignment_id=bonus.assignment_id,
        bonus=bonus,
    )
