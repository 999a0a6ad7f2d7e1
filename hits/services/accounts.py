"""Workers as the marketplace knows them."""

from collections.abc import Collection

from django.db import transaction

from annotate.models import Worker
from hits.models import WorkerAccount


def known_account(*, endpoint: str, marketplace_id: str) -> WorkerAccount | None:
    """The account with this id at this marketplace, with its worker; None if nothing of it was
    reported yet. For pages, whose parameters anybody can make up."""
    accounts = WorkerAccount.objects.select_related("worker")
    return accounts.filter(endpoint=endpoint, marketplace_id=marketplace_id).first()


@transaction.atomic
def account_for(*, endpoint: str, marketplace_id: str) -> WorkerAccount:
    """The account with this id at this marketplace, with its worker; made if it is new. For ids
    that the marketplace reported, or a researcher's file has."""
    account = known_account(endpoint=endpoint, marketplace_id=marketplace_id)
    if account is None:
        account, _ = WorkerAccount.objects.get_or_create(
            endpoint=endpoint,
            marketplace_id=marketplace_id,
            defaults={"worker": Worker.objects.create()},
        )
    return account


@transaction.atomic
def workers_for(*, endpoint: str, marketplace_ids: Collection[str]) -> dict[str, int]:
    """The key of the worker of each of these ids at this marketplace; those who are new are made,
    in the order of the ids. The queries do not grow with the ids."""
    known = _workers(endpoint, marketplace_ids)
    new = [one for one in dict.fromkeys(marketplace_ids) if one not in known]
    if not new:
        return known
    workers = Worker.objects.bulk_create(Worker() for _ in new)
    accounts = [
        WorkerAccount(endpoint=endpoint, marketplace_id=one, worker=worker)
        for one, worker in zip(new, workers, strict=True)
    ]
    # Somebody else may make the same account at this moment; then theirs is the one.
    WorkerAccount.objects.bulk_create(accounts, ignore_conflicts=True)
    return known | _workers(endpoint, new)


def _workers(endpoint: str, marketplace_ids: Collection[str]) -> dict[str, int]:
    accounts = WorkerAccount.objects.filter(endpoint=endpoint, marketplace_id__in=marketplace_ids)
    return dict(accounts.values_list("marketplace_id", "worker"))
