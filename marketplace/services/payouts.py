"""Pay out workers' balances: remove them from the ledger and list the amounts to send."""

from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import QuerySet, Sum

from marketplace.extensions import extensions
from marketplace.models import Account, Transfer, TransferKind, Worker


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
    for less in (_by_worker(paid), *(each.credits(workers) for each in extensions())):
        for pk, total in less.items():
            totals[pk] = totals.get(pk, Decimal()) - total
    return {pk: total for pk, total in totals.items() if total > 0}


def _by_worker(rows: QuerySet[Transfer]) -> dict[int, Decimal]:
    return dict(rows.order_by().values_list("worker").annotate(Sum("amount")))


@transaction.atomic
def pay_out(*, at: datetime) -> int:
    """Pay out all balances as one payout dated `at`; return the number of workers."""
    # Locks prevent two concurrent payouts from paying the same balance. They are taken in one
    # order, so that they cannot deadlock.
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
