"""Plan bonuses, which the reconciler's settle step sends."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import NamedTuple

from django.db import transaction
from django.db.models import Max

from annotate.models import Campaign, Worker
from corpora.errors import DomainError
from corpora.wording import counted
from hits.models import Assignment, Bonus
from hits.models.hits import BonusQuerySet
from hits.queries.costs import ZERO, fee_for, spend
from qualcontrol.services.locks import lock_workers

# The largest bonus that a page or a file may ask for, so that a slip of the pen costs little.
MOST = Decimal("1000.00")


class BonusNotPossible(DomainError):
    """The bonus cannot be paid."""


class Wish(NamedTuple):
    """A bonus that somebody asks for."""

    pseudonym: str
    amount: Decimal
    reason: str


def reason_sent(reason: str) -> str:
    """The reason as the worker gets it. Browsers, files and scripts end lines in their own ways,
    and the same reason must stay the same."""
    return "\n".join(reason.strip().splitlines())


class BonusPreview(NamedTuple):
    """What bonuses would cost, in dollars, and why they cannot be paid (empty if they can)."""

    amount: Decimal
    fee: Decimal
    left: Decimal
    obstacle: str

    @property
    def total(self) -> Decimal:
        return self.amount + self.fee


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

    `key` names the request: with the same key nothing is planned twice, unless the marketplace
    refused all of it for good. Raises BonusNotPossible if one of them cannot be paid or the budget
    is too small; then none is planned.
    """
    campaign = Campaign.objects.locked(campaign.pk)
    named = Worker.objects.filter(pseudonym__in={wish.pseudonym for wish in wishes})
    lock_workers([*named.values_list("pk", flat=True)])
    if obstacle := bonus_preview(campaign, wishes, key=key).obstacle:
        raise BonusNotPossible(obstacle)
    assignments = _latest_assignments(campaign, wishes)
    # The marketplace carries out one call for each token, so those of given-up bonuses are spent.
    first = _asked_for(key).count() + 1
    return Bonus.objects.bulk_create(
        Bonus(
            assignment_id=assignments[wish.pseudonym],
            token=f"{key}-{number}",
            amount=wish.amount,
            fee=fee_for(wish.amount),
            reason=reason_sent(wish.reason),
            planned_at=at,
        )
        for number, wish in enumerate(wishes, start=first)
    )


def _obstacle(
    campaign: Campaign, wishes: Sequence[Wish], total: Decimal, left: Decimal, key: str
) -> str:
    """Why the bonuses cannot be planned; empty if they can."""
    asked_for = _asked_for(key)
    before = asked_for.not_given_up().first()
    if before is not None:
        obstacle = (
            f"These bonuses were planned on {before.planned_at:%-d %b %Y, %H:%M} UTC already. "
            "Nothing is paid twice. For another payment give another reason."
        )
        if asked_for.exclude(refusal="").exists():
            obstacle += (
                " To ask again for those that the marketplace refused, leave out the others."
            )
        return obstacle
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
    """The problems of the list itself."""
    if not wishes:
        return "There is no bonus in the list."
    for wish in wishes:
        if not wish.reason.strip():
            return f"{wish.pseudonym}: enter a reason. The worker will read it."
        if not ZERO < wish.amount <= MOST or wish.amount != round(wish.amount, 2):
            return f"{wish.pseudonym}: a bonus is $0.01 to ${MOST:,}, in whole cents."
    bonuses = Counter(wish._replace(reason=reason_sent(wish.reason)) for wish in wishes)
    ((wish, times),) = bonuses.most_common(1)
    if times > 1:
        return (
            f"{wish.pseudonym}: the list has the same bonus of ${wish.amount:,.2f} {times} times. "
            "For another payment give another reason."
        )
    return ""


def _paid_before(campaign: Campaign, wishes: Sequence[Wish]) -> int:
    """How many of the bonuses exist already."""
    amounts = {wish.amount for wish in wishes}
    made = Bonus.objects.not_given_up()
    earlier = made.filter(assignment__hit__campaign=campaign, amount__in=amounts)
    rows = earlier.values_list("assignment__account__worker__pseudonym", "amount", "reason")
    return len(
        {*rows} & {(wish.pseudonym, wish.amount, reason_sent(wish.reason)) for wish in wishes}
    )


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


def _asked_for(key: str) -> BonusQuerySet:
    """The bonuses of the request with this key."""
    return Bonus.objects.filter(token__startswith=f"{key}-")
