"""Requesters with their keys and money, workers with their profiles, and operators; and the log of
what operators and requesters' programs did."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import Error, IntegrityError, transaction
from django.db.models import QuerySet

from marketplace import ids
from marketplace.errors import DomainError, SignInRefused
from marketplace.models import Activity, Requester, SiteAccount, TransferKind, Worker
from marketplace.services import money
from marketplace.services.accounts import normal_name
from shared.countries import read_place
from shared.hand_over import SignedIn
from shared.second_factors.services import has_second_factor

logger = logging.getLogger(__name__)


@contextmanager
def noted(*, actor: str, action: str, about: str, at: datetime) -> Iterator[None]:
    """Log the action of the block, with the error code if it raises; errors are passed on."""
    refusal = ""
    try:
        yield
    except Exception as error:
        refusal = str(getattr(error, "code", "") or type(error).__name__)
        raise
    finally:
        entry = Activity(actor=actor[:160], action=action, about=about[:200], happened_at=at)
        entry.refusal = refusal[:80]
        try:
            entry.save()
        except Error:
            # A failure to log must not undo or hide the action itself.
            logger.exception("An entry of the activity log could not be written.")


MOST_MONEY = Decimal("1000000000.00")
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


@transaction.atomic
def make_requester(*, name: str, balance: Decimal, at: datetime) -> Requester:
    """Create a requester; raises DomainError if the name is taken."""
    try:
        with transaction.atomic():
            requester = Requester.objects.create(name=name, created_at=at)
    except IntegrityError as error:
        raise DomainError(f"There is a requester called {name} already.") from error
    set_available_balance(requester=requester, balance=balance, at=at)
    requester.refresh_from_db()
    return requester


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


def add_operator(*, name: str) -> User:
    """Create an operator, who has no password yet; raises DomainError if the name is taken or has
    characters that names may not have."""
    operator = User(username=name, is_staff=True)
    operator.set_unusable_password()
    try:
        operator.full_clean()
        with transaction.atomic():
            operator.save(force_insert=True)
    except ValidationError as error:
        raise DomainError(" ".join(error.messages)) from error
    except IntegrityError as error:
        raise DomainError("A user with that username already exists.") from error
    return operator


@transaction.atomic
def set_site_account(*, operator: User, name: str) -> None:
    """Let the account with this name at the requester site sign in as the operator; nobody if the
    name is empty. Raises DomainError if it signs in as another one."""
    SiteAccount.objects.filter(operator=operator).delete()
    if not name:
        return
    try:
        with transaction.atomic():
            SiteAccount.objects.create(operator=operator, name=name.lower())
    except IntegrityError as error:
        raise DomainError(f"{name} is signed in as another operator already.") from error


def operator_of(user: SignedIn) -> User:
    """The operator whom the requester site's user may be here; raises SignInRefused.

    With HAND_OVER_OPERATORS, an operator there has the same name here, and is created if missing.
    """
    operator = all_operators().filter(site_account__name=user.name.lower()).first()
    if operator is None and user.is_operator and settings.HAND_OVER_OPERATORS:
        # Names that differ only in case are one name at both sites.
        named = all_operators().filter(username__iexact=user.name)
        operator = named.first() or add_operator(name=user.name)
    if operator is None:
        raise SignInRefused(
            f"No operator lets {user.name} of the requester site in. An operator can do this on "
            "the page Operators. Or sign in with a name and password of this site."
        )
    if has_second_factor(operator) and not user.has_second_factor:
        raise SignInRefused(
            f"{operator.get_username()} has an authenticator app here, and {user.name} has none at "
            "the requester site. Sign in with the code, or set up an app there."
        )
    return operator


@transaction.atomic
def remove_operator(*, operator: User, actor: User) -> None:
    """Delete another operator's account, with their sessions and authenticator app.

    Raises DomainError if either of the two is no longer an operator.
    """
    # Of two operators who remove each other, one stays.
    keys = {user.pk for user in all_operators().select_for_update().order_by("pk")}
    if operator.pk == actor.pk:
        raise DomainError("You cannot remove yourself. Another operator can.")
    if not {operator.pk, actor.pk} <= keys:
        raise DomainError("This operator was removed already.")
    User.objects.filter(pk=operator.pk).delete()


def all_operators() -> QuerySet[User]:
    """Everybody who may open the operators' pages."""
    return User.objects.filter(is_staff=True, is_active=True)


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


@transaction.atomic
def make_workers(*, names: Sequence[str], columns: Mapping[str, Any], at: datetime) -> list[Worker]:
    """Create workers with these columns, all or none; raises DomainError if a name is taken."""
    taken = sorted(Worker.objects.filter(name__in=names).values_list("name", flat=True))
    if taken:
        others = f" and {len(taken) - 3} more" if len(taken) > 3 else ""
        raise DomainError(
            f"There are workers with these names already: {', '.join(taken[:3])}{others}. Nobody "
            "was created. Choose other names, or open the worker's page for a new sign-in link."
        )
    try:
        with transaction.atomic():
            # In one order, so that two operators with the same names cannot deadlock.
            made = {
                name: Worker.objects.create(name=name, created_at=at, **columns)
                for name in sorted(names)
            }
            return [made[name] for name in names]
    except IntegrityError as error:
        raise DomainError(
            "One of these names was taken at the same moment. Nobody was created. Try again."
        ) from error


def set_profile(*, worker: Worker, changes: Mapping[str, Any]) -> None:
    """Set those that are given of a worker's `country`, the numbers `approved` and `rejected`,
    `is_master` and `is_adult`. The others may have changed since the operator saw them.

    Raises DomainError if the account is closed.
    """
    columns = {"approved": "approved_count", "rejected": "rejected_count"}
    values = {columns.get(name, name): value for name, value in changes.items()}
    if "country" in values:
        values |= read_place(values["country"])._asdict()
    if not Worker.objects.filter(pk=worker.pk, erased_at=None).update(**values):
        refuse_closed(worker)


@transaction.atomic
def suspend(*, worker: Worker, is_suspended: bool) -> None:
    """Suspend the worker or end the suspension; raises DomainError if nothing would change, or if
    the account is closed."""
    changed = Worker.objects.filter(pk=worker.pk, erased_at=None)
    if not changed.exclude(is_suspended=is_suspended).update(is_suspended=is_suspended):
        refuse_closed(worker)
        state = "suspended already" if is_suspended else "not suspended"
        raise DomainError(f"The worker is {state}.")


def refuse_closed(worker: Worker) -> None:
    """Raise DomainError if the worker's account is closed. An erasure is not repeated, so what was
    stored after it would stay."""
    if Worker.objects.filter(pk=worker.pk, erased_at__isnull=False).exists():
        raise DomainError("This account is closed, because its personal data was erased.")
