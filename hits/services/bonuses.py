"""Plan bonuses, which the reconciler's settle step sends."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import NamedTuple

from django.db import transaction
from django.db.models import Max
from django.utils.crypto import get_random_string

from annotate.models import Campaign, Worker
from corpora.errors import DomainError
from corpora.wording import counted
from hits.models import Assignment, Bonus
from hits.queries.costs import ZERO, fee_for, spend
from qualcontrol.services.locks import lock_workers

# The largest bonus that a page or a file may ask for, so that a slip of the pen costs little.
MOST = Decimal("1000.00")


class BonusNotPossible(DomainError):
    """The bonus cannot be paid."""


class AlreadyPlanned(BonusNotPossible):
    """The same request was made before."""


class Wish(NamedTuple):
    """A bonus that somebody asks for."""

    pseudonym: str
    amount: Decimal
    reason: str


class BonusPreview(NamedTuple):
    """What bonuses would cost, in dollars, and why they cannot be paid (empty if they can)."""

    amount: Decimal
    fee: Decimal
    left: Decimal
    obstacle: str

    @property
    def total(self) -> Decimal:
        return self.amount + self.fee


@transaction.atomic
def plan_bonus(*, assignment: Assignment, amount: Decimal, reason: str, at: datetime) -> Bonus:
    """Plan a bonus for an assignment and return it; the next sync sends it.

    Raises BonusNotPossible if the reason is empty or the budget is too small.
    """
    if not reason.strip():
        raise BonusNotPossible("Enter a reason for the bonus: the worker will read it.")
    campaign = Campaign.objects.locked(assignment.hit.campaign_id)
    lock_workers([assignment.account.worker_id])
    if not Assignment.objects.filter(pk=assignment.pk, account__id_deleted_at=None).exists():
        raise BonusNotPossible(
            "The worker's id was deleted, so the marketplace cannot be told whom to pay."
        )
    bonus = _bonus(assignment.pk, amount, reason, get_random_string(32), at)
    if bonus.amount + bonus.fee > spend(campaign).left:
        raise BonusNotPossible(
            f"${bonus.amount} plus its fee of ${bonus.fee} is more than the budget has left."
        )
    bonus.save()
    return bonus


def key_of_wishes(campaign: Campaign, wishes: Sequence[Wish]) -> str:
    """The key of a list of bonuses: the same list has the same key, in any order."""
    lines = sorted(f"{wish.pseudonym}\t{wish.amount:.2f}\t{wish.reason}" for wish in wishes)
    return sha256("\n".join([campaign.slug, *lines]).encode()).hexdigest()[:40]


def bonus_preview(campaign: Campaign, wishes: Sequence[Wish], *, key: str) -> BonusPreview:
    """Compute what the bonuses cost, without planning them."""
    amount = sum((wish.amount for wish in wishes), ZERO)
    fee = sum((fee_for(wish.amount) for wish in wishes), ZERO)
    left = spend(campaign).left
    return BonusPreview(amount, fee, left, _obstacle(campaign, wishes, amount + fee, left, key))


@transaction.atomic
def plan_bonuses(
    *, campaign: Campaign, wishes: Sequence[Wish], key: str, at: datetime
) -> list[Bonus]:
    """Plan all the bonuses, each for its worker's latest assignment; the next sync sends them.

    `key` names the request: with the same key nothing is planned twice. Raises AlreadyPlanned, or
    BonusNotPossible if one of them cannot be paid or the budget is too small; then none is planned.
    """
    campaign = Campaign.objects.locked(campaign.pk)
    named = Worker.objects.filter(pseudonym__in={wish.pseudonym for wish in wishes})
    lock_workers([*named.values_list("pk", flat=True)])
    if obstacle := bonus_preview(campaign, wishes, key=key).obstacle:
        was_planned = Bonus.objects.filter(token=_token(key, 1)).exists()
        raise (AlreadyPlanned if was_planned else BonusNotPossible)(obstacle)
    assignments = _latest_assignments(campaign, wishes)
    return Bonus.objects.bulk_create(
        _bonus(assignments[wish.pseudonym], wish.amount, wish.reason, _token(key, number), at)
        for number, wish in enumerate(wishes, start=1)
    )


def _bonus(assignment_id: int, amount: Decimal, reason: str, token: str, at: datetime) -> Bonus:
    """The bonus with its fee, not stored."""
    return Bonus(
        assignment_id=assignment_id,
        token=token,
        amount=amount,
        fee=fee_for(amount),
        reason=reason.strip(),
        planned_at=at,
    )


def _obstacle(
    campaign: Campaign, wishes: Sequence[Wish], total: Decimal, left: Decimal, key: str
) -> str:
    """Why the bonuses cannot be planned; empty if they can."""
    before = Bonus.objects.filter(token=_token(key, 1)).first()
    if before is not None:
        return (
            f"These bonuses were planned on {before.planned_at:%-d %b %Y, %H:%M} UTC already. "
            "Nothing is paid twice. For another payment give another reason."
        )
    if wrong := _wrong(wishes):
        return wrong
    assignments = _latest_assignments(campaign, wishes)
    missing = sorted({wish.pseudonym for wish in wishes} - set(assignments))
    if missing:
        shown = ", ".join(missing[:5]) + (" and others" if len(missing) > 5 else "")
        workers = counted(len(missing), "worker has", "workers have")
        return (
            f"{workers} no assignment in this campaign that a bonus could be paid for, or the id "
            f"was deleted: {shown}."
        )
    if again := _paid_before(campaign, wishes):
        bonuses = counted(again, "of them was", "of them were")
        return (
            f"{bonuses} planned before for the same worker, with the same amount and reason. "
            "Nothing is paid twice. For another payment give another reason."
        )
    if total > left:
        return f"${total:,.2f} with fees is more than the ${left:,.2f} that the budget has left."
    return ""


def _wrong(wishes: Sequence[Wish]) -> str:
    """What is wrong with the list itself; empty if nothing is."""
    if not wishes:
        return "There is no bonus in the list."
    for wish in wishes:
        if not wish.reason.strip():
            return f"{wish.pseudonym}: enter a reason. The worker will read it."
        if not ZERO < wish.amount <= MOST or wish.amount != round(wish.amount, 2):
            return f"{wish.pseudonym}: a bonus is $0.01 to ${MOST:,}, in whole cents."
    return ""


def _paid_before(campaign: Campaign, wishes: Sequence[Wish]) -> int:
    """How many of the bonuses exist already."""
    amounts = {wish.amount for wish in wishes}
    made = Bonus.objects.not_given_up()
    known = made.filter(assignment__hit__campaign=campaign, amount__in=amounts)
    rows = known.values_list("assignment__account__worker__pseudonym", "amount", "reason")
    return len({*rows} & {(wish.pseudonym, wish.amount, wish.reason.strip()) for wish in wishes})


def _latest_assignments(campaign: Campaign, wishes: Sequence[Wish]) -> dict[str, int]:
    """The key of each worker's latest assignment, by pseudonym."""
    named = {wish.pseudonym for wish in wishes}
    theirs = (
        Assignment.objects.of(campaign)
        .not_lost()
        .filter(account__worker__pseudonym__in=named, account__id_deleted_at=None)
    )
    by_worker = theirs.order_by().values_list("account__worker__pseudonym")
    return dict(by_worker.annotate(Max("pk")))


def _token(key: str, number: int) -> str:
    # Part of a call that the marketplace carries out once for each token.
    return f"{key}-{number}"
