"""Find, create and move the marketplace accounts of workers.

When a worker's id is deleted, a text takes its place. After the retention period that is a keyed
digest. It does not reveal the id, but a worker who comes back or writes with their id is recognised
by it. After an erasure on request it is random, and nothing recognises the worker.
"""

from collections.abc import Callable, Collection, Iterable

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.crypto import salted_hmac

from annotate.models import Campaign, Worker
from corpora.errors import DomainError
from hits.models import Hit, WorkerAccount
from hits.mturk.client import Marketplace
from hits.mturk.connection import MarketplaceError
from hits.mturk.endpoints import WrongEndpoint, endpoint_of, is_amazons
from qualcontrol.services.locks import lock_workers

KEPT_DIGEST, ERASED = "deleted:", "erased:"
# Hexadecimal digits of a digest; with its prefix it fits into the column.
DIGITS = 48


def digest_of(endpoint: str, marketplace_id: str, *, secret: str | None = None) -> str:
    """The digest that takes the place of this id, by the site's signing key or another one."""
    value = f"{endpoint}\n{marketplace_id}"
    digest = salted_hmac("hits.worker_ids", value, secret=secret, algorithm="sha256")
    return KEPT_DIGEST + digest.hexdigest()[:DIGITS]


def digests_of(endpoint: str, marketplace_ids: Iterable[str]) -> dict[str, str]:
    """The ids by their digests, by the site's signing key and the earlier ones."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return {
        digest_of(endpoint, marketplace_id, secret=key): marketplace_id
        for marketplace_id in marketplace_ids
        for key in keys
    }


def stored_ids(endpoint: str, marketplace_id: str) -> set[str]:
    """The texts that may be stored for this id: itself, and its digests. A digest is not an id."""
    itself = () if marketplace_id.startswith((KEPT_DIGEST, ERASED)) else (marketplace_id,)
    return {*itself, *digests_of(endpoint, [marketplace_id])}


class NoSuchWorker(DomainError):
    """No worker, or more than one, has this pseudonym or id."""


def worker_named(text: str) -> Worker:
    """The worker with this pseudonym, or with this id at any marketplace, also if the id was
    deleted after the retention period.

    Raises NoSuchWorker, with the pseudonyms if several workers have the id: Mechanical Turk's
    sandbox and production have the same ids.
    """
    text = text.strip()
    named = Worker.objects.filter(pseudonym=text.upper())
    workers = list(named or Worker.objects.filter(account__in=_accounts_of(text)).order_by("pk"))
    if not workers:
        raise NoSuchWorker(
            "No worker has this pseudonym or id. Their data may have been erased on request."
        )
    if len(workers) > 1:
        raise NoSuchWorker(
            "Several workers have this id, each at another marketplace. Enter one pseudonym after "
            f"the other: {', '.join(map(str, workers))}."
        )
    return workers[0]


def _accounts_of(text: str) -> QuerySet[WorkerAccount]:
    """The accounts with this id."""
    accounts = WorkerAccount.objects.all()
    if not text or text.startswith((KEPT_DIGEST, ERASED)):
        return accounts.none()
    endpoints = accounts.values_list("endpoint", flat=True).distinct()
    stored = [text, *(digest for endpoint in endpoints for digest in digests_of(endpoint, [text]))]
    return accounts.filter(marketplace_id__in=stored)


class ErasedMeanwhile(DomainError):
    """The worker's data was erased after it was looked up."""


@transaction.atomic(savepoint=False)
def locked_accounts(
    *,
    endpoint: str,
    marketplace_ids: Collection[str],
    lock: Callable[[Collection[int]], None] = lock_workers,
) -> dict[str, WorkerAccount]:
    """The accounts with these ids at this marketplace, with their workers, by id. `lock` locks the
    workers until the transaction ends.

    Missing ones are created. A deleted id of a worker who works again is stored again: it is needed
    to pay the worker. Use this only for ids that come from the marketplace. Raises ErasedMeanwhile.
    """
    workers = workers_for(endpoint=endpoint, marketplace_ids=marketplace_ids)
    lock(workers.values())
    # Read after the lock: until then, an id may be deleted (`hits.services.worker_data`).
    with_workers = WorkerAccount.objects.filter(worker__in=workers.values()).select_related(
        "worker"
    )
    accounts = {account.worker_id: account for account in with_workers}
    for marketplace_id, worker in workers.items():
        account = accounts[worker]
        if account.marketplace_id.startswith(ERASED):
            raise ErasedMeanwhile(f"The data of {account} was just erased. The next sync goes on.")
        if account.marketplace_id != marketplace_id:
            account.marketplace_id, account.id_deleted_at = marketplace_id, None
            account.save(update_fields=["marketplace_id", "id_deleted_at"])
    return {marketplace_id: accounts[worker] for marketplace_id, worker in workers.items()}


@transaction.atomic(savepoint=False)
def workers_for(*, endpoint: str, marketplace_ids: Collection[str]) -> dict[str, int]:
    """The keys of the workers with these ids at this marketplace, by id.

    New workers are created, in the order of their ids, so that two transactions that create the
    same accounts do not deadlock. The number of queries is constant.
    """
    known_ids = known_workers(endpoint=endpoint, marketplace_ids=marketplace_ids)
    new = sorted(set(marketplace_ids).difference(known_ids))
    if not new:
        return known_ids
    workers = Worker.objects.bulk_create(Worker() for _ in new)
    accounts = [
        WorkerAccount(endpoint=endpoint, marketplace_id=marketplace_id, worker=worker)
        for marketplace_id, worker in zip(new, workers, strict=True)
    ]
    # If another transaction creates the same account at this moment, its account is used.
    WorkerAccount.objects.bulk_create(accounts, ignore_conflicts=True)
    known_ids |= known_workers(endpoint=endpoint, marketplace_ids=new)
    if unused := {worker.pk for worker in workers}.difference(known_ids.values()):
        Worker.objects.filter(pk__in=unused).delete()
    return known_ids


def known_workers(*, endpoint: str, marketplace_ids: Collection[str]) -> dict[str, int]:
    """The keys of the workers among these that are stored, by id, also of those whose id was
    deleted after a retention period."""
    digests = digests_of(endpoint, marketplace_ids)
    accounts = WorkerAccount.objects.filter(
        endpoint=endpoint, marketplace_id__in=[*marketplace_ids, *digests]
    )
    rows = accounts.values_list("marketplace_id", "worker")
    # A digest in a file or an answer is not an id.
    asked = {
        marketplace_id: marketplace_id
        for marketplace_id in marketplace_ids
        if not marketplace_id.startswith(KEPT_DIGEST)
    } | digests
    return {asked[stored]: worker for stored, worker in rows if stored in asked}


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
        endpoints = (
            Campaign.objects.order_by("endpoint").values_list("endpoint", flat=True).distinct()
        )
        raise WrongEndpoint(
            f"No campaign belongs to {old}. Known: {', '.join(endpoints) or 'none'}."
        )
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
