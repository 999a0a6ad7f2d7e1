"""Accounts of requesters and workers, blocks, and messages to workers."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from django.conf import settings
from django.db import transaction

from marketplace.countries import read_place
from marketplace.errors import DomainError
from marketplace.models import (
    DECIDED,
    Assignment,
    Message,
    Requester,
    TransferKind,
    Worker,
    WorkerBlock,
)
from marketplace.services import money
from marketplace.services.accounts import normal_name

MOST_RECIPIENTS = 100
# The rejected assignments of the lowest approval rate are 99 times as many, and have to be stored.
MOST_APPROVED = 10**7


@transaction.atomic
def get_or_create_requester(*, name: str, balance: Decimal | None, at: datetime) -> Requester:
    """The requester with this name and, if given, this available balance in dollars.

    A new requester without a given balance gets MTURK_STARTING_BALANCE.
    """
    requester, created = Requester.objects.get_or_create(name=name, defaults={"created_at": at})
    requester = Requester.objects.select_for_update().get(pk=requester.pk)
    if balance is None and created:
        balance = settings.MTURK_STARTING_BALANCE
    if balance is not None:
        set_available_balance(requester=requester, balance=balance, at=at)
        requester.refresh_from_db()
    return requester


def set_available_balance(*, requester: Requester, balance: Decimal, at: datetime) -> None:
    """Deposit or withdraw dollars so that the available balance equals `balance`."""
    missing = balance - requester.available_balance
    kind = TransferKind.DEPOSIT if missing > 0 else TransferKind.WITHDRAWAL
    money.move_money(requester=requester, kinds={kind: abs(missing)}, at=at)


def profile_columns(
    *,
    country: str | None = None,
    approved: int | None = None,
    rate: int | None = None,
    is_master: bool | None = None,
    is_adult: bool | None = None,
) -> dict[str, int | str]:
    """The columns of a worker with these properties; those that are None are left out.

    The country may include a subdivision, as in US-PA. Raises ValueError for a number that is out
    of range.
    """
    rate = 100 if rate is None else rate
    if not 0 <= (approved or 0) <= MOST_APPROVED:
        raise ValueError(f"approved must be from 0 to {MOST_APPROVED}.")
    if not 1 <= rate <= 100:
        raise ValueError("rate must be from 1 to 100.")
    # Rounded down, so that the approval rate is at least the requested one.
    rejected = None if approved is None else approved * (100 - rate) // rate
    columns = {
        "approved_count": approved,
        "rejected_count": rejected,
        "is_master": is_master,
        "is_adult": is_adult,
    }
    place = {} if country is None else read_place(country)._asdict()
    return place | {name: value for name, value in columns.items() if value is not None}


def get_or_create_worker(*, name: str, columns: Mapping[str, int | str], at: datetime) -> Worker:
    """The worker with this name; the columns are set each time."""
    return Worker.objects.update_or_create(
        name=normal_name(name), defaults=columns, create_defaults={**columns, "created_at": at}
    )[0]


def block_worker(*, requester: Requester, worker: Worker, reason: str, at: datetime) -> None:
    """Block the worker from the requester's HITs; a second block replaces the reason.

    Raises DomainError if the requester has reached the maximum number of blocks.
    """
    others = requester.worker_blocks.exclude(worker=worker)
    if others.count() >= settings.MTURK_MOST_BLOCKS:
        raise DomainError(f"At most {settings.MTURK_MOST_BLOCKS} workers can be blocked.")
    WorkerBlock.objects.update_or_create(
        requester=requester,
        worker=worker,
        defaults={"reason": reason},
        create_defaults={"reason": reason, "created_at": at},
    )


def unblock_worker(*, requester: Requester, worker: Worker) -> None:
    """Remove the block, if there is one."""
    requester.worker_blocks.filter(worker=worker).delete()


@transaction.atomic
def notify_workers(
    *, requester: Requester, subject: str, text: str, worker_ids: Sequence[str], at: datetime
) -> dict[str, str]:
    """Send a message to workers; return the errors by worker id."""
    if len(subject) > 200 or not subject.strip():
        raise DomainError("Subject must have 1 to 200 characters.")
    if len(text) > 4096 or not text.strip():
        raise DomainError("MessageText must have 1 to 4096 characters.")
    if len(worker_ids) > MOST_RECIPIENTS:
        raise DomainError(f"At most {MOST_RECIPIENTS} workers can be notified at once.")
    # Nobody reads what is sent to a closed account, and no further erasure deletes it. Locked,
    # because one may be closing.
    open_accounts = Worker.objects.filter(public_id__in=worker_ids, erased_at=None).order_by("pk")
    workers = {worker.public_id: worker for worker in open_accounts.select_for_update(no_key=True)}
    reachable = _with_history(requester, workers.values())
    failures = {}
    messages = []
    for public_id in dict.fromkeys(worker_ids):
        worker = workers.get(public_id)
        if worker is None:
            failures[public_id] = "The worker does not exist."
        elif worker.pk not in reachable:
            failures[public_id] = "You have not reviewed any work of this worker."
        else:
            messages.append(
                Message(requester=requester, worker=worker, subject=subject, text=text, sent_at=at)
            )
    Message.objects.bulk_create(messages)
    return failures


def _with_history(requester: Requester, workers: Iterable[Worker]) -> set[int]:
    if not settings.MTURK_NEEDS_HISTORY_FOR_MESSAGES:
        return {worker.pk for worker in workers}
    return {
        worker.pk
        for worker in workers
        if Assignment.objects.filter(
            worker=worker, status__in=DECIDED, hit__requester=requester
        ).exists()
    }
