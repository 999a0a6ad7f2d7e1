"""Create the marketplace accounts of workers, and note who is to be barred there."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import Count

from annotate.models import Campaign, Response, Worker
from corpora.errors import DomainError
from hits.models import Hit, HitType, WorkerAccount, WorkerBarring
from hits.mturk.client import Marketplace
from hits.mturk.connection import MarketplaceError
from hits.mturk.endpoints import WrongEndpoint, endpoint_of, is_amazons
from hits.queries.worker_data import ERASED, KEPT_DIGEST, digests_of
from qualcontrol.models import kept_out
from qualcontrol.services.locks import lock_workers


class ErasedMeanwhile(DomainError):
    """The worker's data was erased after it was looked up."""


@transaction.atomic(savepoint=False)
def locked_accounts(*, endpoint: str, marketplace_ids: Collection[str]) -> dict[str, WorkerAccount]:
    """Return the accounts with these ids at this marketplace, with their workers, by id. The
    workers are locked until the transaction ends.

    Missing ones are created. A deleted id of a worker who works again is stored again: it is needed
    to pay the worker. Use this only for ids that come from the marketplace. Raises ErasedMeanwhile.
    """
    workers = workers_for(endpoint=endpoint, marketplace_ids=marketplace_ids)
    lock_workers(workers.values())
    # Read after the lock: until then, an id may be deleted (`hits.services.worker_data`).
    found = WorkerAccount.objects.filter(worker__in=workers.values()).select_related("worker")
    accounts = {account.worker_id: account for account in found}
    for marketplace_id, worker in workers.items():
        account = accounts[worker]
        if account.marketplace_id.startswith(ERASED):
            raise ErasedMeanwhile(f"The data of {account} was just erased. The next sync goes on.")
        if account.marketplace_id != marketplace_id:
            account.marketplace_id, account.id_deleted_at = marketplace_id, None
            account.save(update_fields=["marketplace_id", "id_deleted_at"])
    return {one: accounts[worker] for one, worker in workers.items()}


@transaction.atomic(savepoint=False)
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
    """The known workers among these, also those whose id was deleted after a retention period."""
    digests = digests_of(endpoint, marketplace_ids)
    accounts = WorkerAccount.objects.filter(
        endpoint=endpoint, marketplace_id__in=[*marketplace_ids, *digests]
    )
    found = accounts.values_list("marketplace_id", "worker")
    # A digest in a file or an answer is no id of a worker.
    asked = {one: one for one in marketplace_ids if not one.startswith(KEPT_DIGEST)} | digests
    return {asked[stored]: worker for stored, worker in found if stored in asked}


@transaction.atomic
def follow_marketplace(*, old: str, new: str) -> int:
    """Move the campaigns and workers of a marketplace that is now found at `new`; return the number
    of campaigns.

    Raises WrongEndpoint if there are none, and unless the marketplace there knows the latest HIT.
    Digests of deleted ids contain the address, so these workers are no longer recognised.
    """
    if old == new or is_amazons(old) or is_amazons(new):
        raise WrongEndpoint(f"{old} and {new} must be two addresses of a marketplace of your own.")
    if not Campaign.objects.filter(endpoint=old).exists():
        known = Campaign.objects.order_by("endpoint").values_list("endpoint", flat=True).distinct()
        raise WrongEndpoint(f"No campaign belongs to {old}. Known: {', '.join(known) or 'none'}.")
    latest = Hit.objects.created().filter(campaign__endpoint=old).order_by("-pk").first()
    if latest is not None and latest.hit_id:
        try:
            Marketplace(endpoint_of(new)).hit(latest.hit_id)
        except MarketplaceError as error:
            raise WrongEndpoint(f"{new} is not the marketplace that was {old}: {error}") from error
    accounts = WorkerAccount.objects.filter(endpoint=old)
    if WorkerAccount.objects.filter(
        endpoint=new, marketplace_id__in=accounts.values("marketplace_id")
    ).exists():
        raise WrongEndpoint(f"Workers of {old} are known under {new}, too: they would be merged.")
    accounts.update(endpoint=new)
    return Campaign.objects.filter(endpoint=old).update(endpoint=new)


def has_work(campaign: Campaign, worker: Worker) -> bool:
    """Return whether a task of the campaign needs a response that the worker could give."""
    return campaign.tasks.open_to(worker).exists()


def workers_done(campaign: Campaign) -> list[int]:
    """Return the keys of workers who have a response to every unfinished task.

    The list is empty if all tasks are finished.
    """
    unfinished = campaign.tasks.unfinished()
    first = unfinished.emptiest_first().first()
    if first is None:
        return []
    # These workers have also done the task with the fewest responses, which limits the query to a
    # few workers.
    done = Response.objects.filter(task__in=unfinished, worker__responses__task=first)
    counts = done.order_by().values_list("worker").annotate(Count("task"))
    number = unfinished.count()
    return [worker for worker, tasks in counts if tasks == number]


@transaction.atomic
def bar_if_done(*, campaign: Campaign, account: WorkerAccount) -> WorkerBarring | None:
    """Bar a worker who may not work on the campaign or has no task left.

    Return the barring if it is not in force at the marketplace yet, otherwise None. The next sync
    puts it in force; the caller may do this at once.
    """
    hit_type = campaign.hit_types.first()
    may_work = not kept_out(campaign).filter(pk=account.worker_id).exists()
    if hit_type is None or (may_work and has_work(campaign, account.worker)):
        return None
    barring = want_barred(hit_type=hit_type, account=account)
    return None if barring.is_in_force else barring


def want_barred(*, hit_type: HitType, account: WorkerAccount) -> WorkerBarring:
    """Record that the worker is to be barred and return the barring, which the next sync sends."""
    barring, _ = WorkerBarring.objects.update_or_create(
        hit_type=hit_type, account=account, defaults={"is_wanted": True}
    )
    return barring
