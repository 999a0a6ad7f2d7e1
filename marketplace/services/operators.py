"""Changes by operators: requesters with their keys and money, and workers' profiles."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from django.db import IntegrityError, transaction

from marketplace import ids
from marketplace.countries import read_place
from marketplace.errors import DomainError
from marketplace.models import Requester, TransferKind, Worker

from . import money
from .workers import WorkerProfile, get_or_create_requester

MOST_MONEY = Decimal("1000000000.00")


def make_requester(*, name: str, balance: Decimal, at: datetime) -> Requester:
    """Create a requester; raises DomainError if the name is taken."""
    if Requester.objects.filter(name=name).exists():
        raise DomainError(f"There is a requester called {name} already.")
    return get_or_create_requester(name=name, balance=balance, at=at)


def add_money(*, requester: Requester, amount: Decimal, at: datetime) -> None:
    """Add dollars to the requester's balance; raises DomainError for an invalid amount."""
    if not 0 < amount <= MOST_MONEY:
        raise DomainError(f"The amount must be between 0.01 and {MOST_MONEY}.")
    money.move_money(requester=requester, kinds={TransferKind.DEPOSIT: amount}, at=at)


def replace_keys(*, requester: Requester) -> None:
    """Give the requester new keys. The old ones stop working."""
    Requester.objects.filter(pk=requester.pk).update(
        access_key=ids.access_key(), secret_key=ids.secret_key()
    )


@transaction.atomic
def make_workers(*, names: Sequence[str], profile: WorkerProfile, at: datetime) -> list[Worker]:
    """Create workers with this profile, all or none; raises DomainError if a name is taken."""
    taken = sorted(Worker.objects.filter(name__in=names).values_list("name", flat=True))
    if taken:
        others = f" and {len(taken) - 3} more" if len(taken) > 3 else ""
        raise DomainError(
            f"There are workers with these names already: {', '.join(taken[:3])}{others}. Nobody "
            "was created. Choose other names, or open the worker's page for a new sign-in link."
        )
    try:
        with transaction.atomic():
            return [
                Worker.objects.create(name=name, created_at=at, **profile.values())
                for name in names
            ]
    except IntegrityError as error:
        raise DomainError(
            "One of these names was taken at the same moment. Nobody was created. Try again."
        ) from error


def set_profile(
    *,
    worker: Worker,
    country: str,
    approved: int,
    rejected: int,
    is_master: bool,
    is_adult: bool,
) -> None:
    """Set a worker's country, counts of approved and rejected HITs, and further qualifications."""
    Worker.objects.filter(pk=worker.pk).update(
        **read_place(country)._asdict(),
        approved_count=approved,
        rejected_count=rejected,
        is_master=is_master,
        is_adult=is_adult,
    )


@transaction.atomic
def suspend(*, worker: Worker, is_suspended: bool) -> None:
    """Suspend the worker or end the suspension; raises DomainError if nothing would change."""
    changed = Worker.objects.filter(pk=worker.pk).exclude(is_suspended=is_suspended)
    if not changed.update(is_suspended=is_suspended):
        state = "suspended already" if is_suspended else "not suspended"
        raise DomainError(f"The worker is {state}.")
