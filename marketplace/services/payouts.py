"""Pay out workers' balances: remove them from the ledger and list the amounts to send."""

from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import QuerySet, Sum

from marketplace.models import Account, Participation, Transfer, TransferKind, Worker


def balances(workers: QuerySet[Worker] | None = None) -> dict[int, Decimal]:
    """Amount in dollars that each worker has earned and not been paid, by primary key.

    Without participants of a panel that pays by its API: it pays what they have earned.
    """
    totals: dict[int, Decimal] = {}
    for side, sign in (("target", 1), ("source", -1)):
        rows = Transfer.objects.filter(**{side: Account.WORKER}, worker__isnull=False)
        if workers is not None:
            rows = rows.filter(worker__in=workers)
        for pk, total in rows.order_by().values_list("worker").annotate(Sum("amount")):
            totals[pk] = totals.get(pk, Decimal()) + sign * total
    by_panel = Participation.objects.filter(study__at_panel__isnull=False)
    for pk in by_panel.values_list("worker", flat=True):
        totals.pop(pk, None)
    return {pk: total for pk, total in totals.items() if total > 0}


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
