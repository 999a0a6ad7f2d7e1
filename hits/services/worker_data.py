"""Delete workers' personal data: after the retention period, and one worker's on request.

Payments, decisions and counting answers are kept. They name a pseudonym, which no longer leads to
a person when the id is deleted.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, Model, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Replace
from django.utils.crypto import get_random_string

from accounts.models import IdempotencyKey
from annotate.models import Behaviour, Campaign, CampaignStatus, Caption, Response, Worker
from background.models import Failure, Job, JobLine, Notice
from corpora.errors import DomainError
from corpora.wording import counted
from hits.models import (
    Assignment,
    Bonus,
    HitType,
    MessageRecipient,
    MessageStatus,
    ProcessedMessage,
    Sync,
    SyncProblem,
    TaskPage,
    WorkerAccount,
    WorkerBarring,
)
from hits.queries.settled import settled_since_release
from hits.services.accounts import ERASED, digest_of
from hits.services.hit_pages import close_pages
from qualcontrol.models import Appeal, Exclusion
from qualcontrol.services.locks import lock_workers
from shared.database.transactions import BATCH, delete_in_batches

DELETED_TEXT = "(deleted at the worker's request)"
# A call that fails for this long is refused for good, for example because the account was closed.
REFUSED_FOR_GOOD = timedelta(days=1)


# Texts that may quote the marketplace, which may name a worker in an error.
QUOTING: tuple[tuple[type[Model], str], ...] = (
    (Sync, "error"),
    (SyncProblem, "message"),
    (ProcessedMessage, "problem"),
    (ProcessedMessage, "body"),
    (Bonus, "refusal"),
    (Job, "step"),
    (Job, "error"),
    (JobLine, "text"),
    (Failure, "error"),
    (Notice, "text"),
    (IdempotencyKey, "body"),
)
IN_PLACE_OF_ID = "[id]"


class CannotErase(DomainError):
    """The worker's data is still needed."""


def _settled(at: datetime) -> QuerySet[Campaign]:
    """The campaigns whose retention period is over; none if it has no end."""
    if settings.WORKER_DATA_DAYS is None:
        return Campaign.objects.none()
    return settled_since_release(at - timedelta(days=settings.WORKER_DATA_DAYS))


def delete_old_behaviour(*, at: datetime) -> int:
    """Delete how responses of settled campaigns were made, and answers that fit no task; return
    their number. The flags computed from them are kept."""
    old = _settled(at)
    number = delete_in_batches(Behaviour.objects.filter(response__campaign__in=old))
    unplaced = Assignment.objects.filter(hit__campaign__in=old).exclude(unplaced_answer="")
    return number + unplaced.update(unplaced_answer="")


def delete_old_worker_ids(*, at: datetime) -> int:
    """Delete the ids of workers all of whose campaigns are settled; return their number."""
    if settings.WORKER_DATA_DAYS is None:
        return 0
    deleted, after = 0, 0
    while keys := list(_old_accounts(at).filter(pk__gt=after).values_list("pk")[:BATCH]):
        deleted += _delete_ids([pk for (pk,) in keys], at)
        ((after,),) = keys[-1:]
    return deleted


def _old_accounts(at: datetime) -> QuerySet[WorkerAccount]:
    """Accounts with an id that no campaign needs, in the order of their keys."""
    needed = Campaign.objects.exclude(pk__in=_settled(at).values("pk"))
    account = OuterRef("pk")
    uses: list[QuerySet[Any]] = [
        Response.objects.filter(worker=OuterRef("worker"), campaign__in=needed),
        Assignment.objects.filter(account=account, hit__campaign__in=needed),
        MessageRecipient.objects.filter(account=account, message__campaign__in=needed),
        WorkerBarring.objects.filter(account=account, hit_type__campaign__in=needed),
        # The worker may be at work.
        TaskPage.objects.filter(marketplace_id=OuterRef("marketplace_id")),
    ]
    unused = [~Exists(rows) for rows in uses]
    return WorkerAccount.objects.filter(*unused, id_deleted_at=None).order_by("pk")


@transaction.atomic
def _delete_ids(keys: Sequence[int], at: datetime) -> int:
    # Bonuses and messages are planned under a lock of their campaign. Ingest locks the workers, and
    # stores an id again that it finds deleted.
    theirs = _settled(at).filter(tasks__responses__worker__account__in=keys)
    list(
        Campaign.objects.filter(pk__in=theirs.values("pk"))
        .order_by("pk")
        .select_for_update(no_key=True)
        .values_list("pk")
    )
    lock_workers([*WorkerAccount.objects.filter(pk__in=keys).values_list("worker", flat=True)])
    accounts = list(_old_accounts(at).filter(pk__in=keys))
    # Bonuses are kept for ever. Other texts that may quote an id have a retention period.
    refused = list(
        Bonus.objects.exclude(refusal="")
        .filter(assignment__account__in=accounts)
        .select_related("assignment__account")
    )
    for bonus in refused:
        marketplace_id = bonus.assignment.account.marketplace_id
        bonus.refusal = bonus.refusal.replace(marketplace_id, IN_PLACE_OF_ID)
    Bonus.objects.bulk_update(refused, ["refusal"])
    for account in accounts:
        account.marketplace_id = digest_of(account.endpoint, account.marketplace_id)
        account.id_deleted_at = at
    WorkerAccount.objects.bulk_update(accounts, ["marketplace_id", "id_deleted_at"])
    return len(accounts)


class Erasure(NamedTuple):
    """What an erasure deletes and keeps, in numbers."""

    behaviours: int
    pages: int
    texts: int  # of appeals, and remarks
    kept_answers: int
    open_campaigns: int


def preview_erasure(worker: Worker) -> Erasure:
    """Count what `erase_worker` would delete and keep."""
    theirs = Campaign.objects.filter(tasks__responses__worker=worker).distinct()
    return Erasure(
        behaviours=Behaviour.objects.filter(response__worker=worker).count(),
        pages=_pages(worker).count(),
        texts=_appeals(worker).count() + _remarks(worker).count(),
        kept_answers=Response.objects.filter(worker=worker).count(),
        open_campaigns=theirs.exclude(status=CampaignStatus.FINISHED).count(),
    )


def _pages(worker: Worker) -> QuerySet[TaskPage]:
    account = WorkerAccount.objects.filter(worker=worker).first()
    return TaskPage.objects.of_account(account) if account else TaskPage.objects.none()


def _appeals(worker: Worker) -> QuerySet[Appeal]:
    return Appeal.objects.filter(exclusion__worker=worker)


def _remarks(worker: Worker) -> QuerySet[Caption]:
    """The captions with a remark to the researcher."""
    return Caption.objects.filter(response__worker=worker).exclude(remark="")


def erase_worker(*, worker: Worker, by: User | None, at: datetime) -> Erasure:
    """Delete what leads from the pseudonym to the person, also from texts about errors, how they
    worked, and what they wrote to the researcher in appeals and remarks; return what was deleted
    and kept. Erasing twice changes nothing.

    Answers stay: without the id they are not personal data, and a release never changes. Raises
    CannotErase if the worker is owed a decision, a payment or a message, because these need the id.
    """
    if obstacle := obstacle_to_erasure(worker, at):
        raise CannotErase(obstacle)
    before = list(_pages(worker).values_list("pk", flat=True))
    # In transactions of their own: one that closes many pages would lock tasks in no order.
    close_pages(before)
    erasure = _erase(worker, by, at)
    return erasure._replace(pages=erasure.pages + len(before))


@transaction.atomic
def _erase(worker: Worker, by: User | None, at: datetime) -> Erasure:
    lock_workers([worker.pk])
    if obstacle := obstacle_to_erasure(worker, at):
        raise CannotErase(obstacle)
    erasure = preview_erasure(worker)
    # Those that were opened meanwhile.
    close_pages(_pages(worker).values_list("pk", flat=True))
    Behaviour.objects.filter(response__worker=worker).delete()
    Response.objects.filter(worker=worker).update(seconds=None)
    _appeals(worker).update(text=DELETED_TEXT)
    _remarks(worker).update(remark="")
    Assignment.objects.filter(account__worker=worker).update(unplaced_answer="")
    accounts = WorkerAccount.objects.filter(worker=worker)
    for account in accounts.exclude(marketplace_id__startswith=ERASED):
        _delete_from_texts(account.marketplace_id)
        account.marketplace_id = ERASED + get_random_string(32)
        account.id_deleted_at, account.erased_by = at, by
        account.save(update_fields=["marketplace_id", "id_deleted_at", "erased_by"])
    return erasure


def _delete_from_texts(marketplace_id: str) -> None:
    for model, column in QUOTING:
        quoting = model._default_manager.filter(**{f"{column}__contains": marketplace_id})
        without = Replace(column, Value(marketplace_id), Value(IN_PLACE_OF_ID))
        quoting.update(**{column: without})


def obstacle_to_erasure(worker: Worker, at: datetime) -> str:
    """Why the worker's id is still needed; empty if it is not."""
    account = Q(account__worker=worker)
    undecided = Assignment.objects.undecided().filter(account).count()
    bonuses = Bonus.objects.unsent().filter(assignment__account__worker=worker).count()
    unsent = MessageRecipient.objects.filter(account, status=MessageStatus.PLANNED).count()
    untold = sum(not _is_refused(barring, at) for barring in _untold(worker))
    untold += _without_barring(worker).count()
    appeals = Appeal.objects.open().filter(exclusion__worker=worker).count()
    needs = [
        undecided and f"{counted(undecided, 'assignment')} not approved or rejected yet",
        bonuses and f"{counted(bonuses, 'bonus', 'bonuses')} not sent yet",
        unsent and f"{counted(unsent, 'message')} not sent yet",
        untold and f"{counted(untold, 'exclusion')} that the marketplace was not told of yet",
        appeals and f"{counted(appeals, 'appeal')} without an answer",
    ]
    if not any(needs):
        return ""
    return (
        f"The data of {worker} is still needed: {', '.join(need for need in needs if need)}. "
        "Decide and sync first, then erase the data."
    )


def _untold(worker: Worker) -> QuerySet[WorkerBarring]:
    """The worker's barrings that the marketplace was not told of yet."""
    untold = WorkerBarring.objects.untold().filter(account__worker=worker)
    return untold.select_related("hit_type", "account__worker")


def _without_barring(worker: Worker) -> QuerySet[HitType]:
    """The HIT types of campaigns that have excluded the worker since their last sync."""
    known = WorkerAccount.objects.filter(worker=worker, id_deleted_at=None)
    exclusions = Exclusion.objects.in_force().filter(worker__account__in=known)
    barred = WorkerBarring.objects.filter(account__in=known, is_wanted=True)
    of_these = HitType.objects.needed().filter(campaign__in=exclusions.values("campaign"))
    return of_these.exclude(pk__in=barred.values("hit_type"))


def _is_refused(barring: WorkerBarring, at: datetime) -> bool:
    """Whether syncs have failed to tell the marketplace for REFUSED_FOR_GOOD."""
    problems = SyncProblem.objects.filter(campaign=barring.hit_type.campaign_id)
    return problems.filter(subject=str(barring), first_at__lte=at - REFUSED_FOR_GOOD).exists()
