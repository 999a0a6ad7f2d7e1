"""Giving places of tasks to workers, and taking them back."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from itertools import chain, repeat

from django.db import transaction
from django.db.models import F

from annotate.errors import DomainError
from annotate.models import Campaign, Claim, ClaimStatus, Task, Worker
from annotate.models.campaigns import TaskQuerySet
from annotate.services.places import move_places


class NothingToDo(DomainError):
    """No task of the campaign has a place left that this worker could take."""


@transaction.atomic
def claim_tasks(
    *, campaign: Campaign, worker: Worker, count: int, at: datetime, expires_at: datetime
) -> list[Claim]:
    """Lease up to `count` tasks to the worker, the emptiest first, and fewer only where no more
    are open to them; raises NothingToDo.

    The worker's row is locked first, so that a double click waits for the first one and then sees
    what it took. (SQLite has no row locks; there a transaction has the database to itself.)
    """
    Worker.objects.select_for_update().get(pk=worker.pk)
    tasks = _take_places(campaign.tasks.open_to(worker), count)
    if not tasks:
        raise NothingToDo("There is nothing left in this campaign that you have not done.")
    return Claim.objects.bulk_create(
        Claim(task=task, worker=worker, claimed_at=at, expires_at=expires_at) for task in tasks
    )


def _take_places(open_tasks: TaskQuerySet, count: int) -> list[Task]:
    """A place of each of the `count` emptiest tasks. Those that rivals are busy with are passed
    over at first; only where too few are left does one wait for the rivals, as places may remain.

    Nobody waits with a task in hand that others wait for: what was locked is let go first, and who
    waits does so in the order of the keys. Otherwise two who wait would bring a deadlock.
    """
    for lock in chain([_lock_at_rest], repeat(_lock_in_turn)):
        with transaction.atomic():
            tasks = lock(open_tasks, count)
            keys = [task.pk for task in tasks]
            if len(tasks) == count or not open_tasks.exclude(pk__in=keys).exists():
                taken = Task.objects.filter(pk__in=keys)
                taken.update(places_left=F("places_left") - 1)
                return tasks
            transaction.set_rollback(True)  # lets go of the locks
    raise AssertionError("never reached: the last way is repeated")


def _lock_at_rest(open_tasks: TaskQuerySet, count: int) -> list[Task]:
    """The emptiest tasks that nobody else has locked."""
    at_rest = open_tasks.select_for_update(skip_locked=True, of=("self",), no_key=True)
    return list(at_rest.emptiest_first().with_subject()[:count])


def _lock_in_turn(open_tasks: TaskQuerySet, count: int) -> list[Task]:
    """The emptiest tasks, of those that still have a place when our turn comes."""
    emptiest = open_tasks.emptiest_first().values_list("pk", flat=True)[:count]
    chosen = open_tasks.filter(pk__in=list(emptiest)).order_by("pk")
    return list(chosen.select_for_update(of=("self",), no_key=True).with_subject())


@transaction.atomic
def release_claims(*, claims: Iterable[Claim]) -> int:
    """Free the places of those claims that are still held; returns how many were. Claims are taken
    in the order of their keys, so that two callers never wait for each other."""
    freed: Counter[int] = Counter()
    for claim in sorted(claims, key=lambda claim: claim.pk):
        held = Claim.objects.held().filter(pk=claim.pk)
        if held.update(status=ClaimStatus.RELEASED):
            freed[claim.task_id] += 1
    move_places(freed)
    return freed.total()
