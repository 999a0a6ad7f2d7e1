"""Create the marketplace accounts of workers."""

from collections.abc import Collection

from django.db import transaction

from annotate.models import Worker
from hits.models import WorkerAccount


@transaction.atomic
def account_for(*, endpoint: str, marketplace_id: str) -> WorkerAccount:
    """Return the account with this id at this marketplace, with its worker; create it if needed.

    Use this only for ids that come from the marketplace or from a researcher's file.
    """
    account = WorkerAccount.objects.known(endpoint=endpoint, marketplace_id=marketplace_id)
    if account is None:
        account, _ = WorkerAccount.objects.get_or_create(
            endpoint=endpoint,
            marketplace_id=marketplace_id,
            defaults={"worker": Worker.objects.create()},
        )
    return account


@transaction.atomic
def accounts_for(*, endpoint: str, marketplace_ids: Collection[str]) -> dict[str, WorkerAccount]:
    """Return the accounts with these ids at this marketplace, with their workers, by id.

    Missing ones are created, like by `account_for`.
    """
    workers_for(endpoint=endpoint, marketplace_ids=marketplace_ids)
    accounts = WorkerAccount.objects.filter(endpoint=endpoint, marketplace_id__in=marketplace_ids)
    return {account.marketplace_id: account for account in accounts.select_related("worker")}


@transaction.atomic
def workers_for(*, endpoint: str, marketplace_ids: Collection[str]) -> dict[str, int]:
    """Return the keys of the workers with these ids at this marketplace, by id.

    New workers are created, in the order of the ids. The number of queries is constant.
    """
    known = _workers(endpoint, marketplace_ids)
    new = [one for one in dict.fromkeys(marketplace_ids) if one not in known]
    if not new:
        return known
    workers = Worker.objects.bulk_create(Worker() for _ in new)
    accounts = [
        WorkerAccount(endpoint=endpoint, marketplace_id=one, worker=worker)
        for one, worker in zip(new, workers, strict=True)
    ]
    # If another transaction creates the same account at this moment, its account is used.
    WorkerAccount.objects.bulk_create(accounts, ignore_conflicts=True)
    return known | _workers(endpoint, new)


def _workers(endpoint: str, marketplace_ids: Collection[str]) -> dict[str, int]:
    accounts = WorkerAccount.objects.filter(endpoint=endpoint, marketplace_id__in=marketplace_ids)
    return dict(accounts.values_list("marketplace_id", "worker"))
