"""Paying workers out: what they have earned leaves the ledger, and the list says whom to pay."""

from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import QuerySet, Sum

from marketplace.models import Account, Transfer, TransferKind, Worker


def balances(workers: QuerySet[Worker] | None = None) -> dict[int, Decimal]:
    """What each worker has earned and was not paid out yet, by the worker's key."""
    totals: dict[int, Decimal] = {}
    for side, sign in (("target", 1), ("source", -1)):
        rows = Transfer.objects.filter(**{side: Account.WORKER}, worker__isnull=False)
        if workers is not None:
            rows = rows.filter(worker__in=workers)
        for pk, total in rows.order_by().values_list("worker").annotate(Sum("amount")):
            totals[pk] = totals.get(pk, Decimal()) + sign * total
    return {pk: total for pk, total in totals.items() if total > 0}


@transaction.atomic
def pay_out(*, at: datetime) -> int:
    """Take every balance off the ledger as one payout, dated `at`; returns how many workers."""
    # Locked in one order, so that two payouts at once pay nobody twice.
    due = balances()
    workers = Worker.objects.filter(pk__in=due).order_by("pk").select_for_update()
    locked = list(workers.values_list("pk", flat=True))
    due = balances(Worker.objects.filter(pk__in=locked))
    Transfer.objects.bulk_create(
        Transfer(
            kind=TransferKind.PAYOUT,
            source=Account.WORKER,
            target=Account.OUTSIDE,
            amount=amount,
            worker_id=pk,
            made_at=at,
        )
        for pk, amount in sorted(due.items())
    )
    return len(due)
