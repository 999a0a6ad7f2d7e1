"""Choosing the tasks of a page, and giving their places back when nobody works at it any more."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import chain, repeat

from django.db import transaction
from django.db.models import QuerySet

from annotate.errors import DomainError
from annotate.models import Campaign, Claim, Task, Worker
from annotate.models.campaigns import TaskQuerySet
from annotate.services.places import lock_tasks, lots, move_places


class NothingToDo(DomainError):
    """The worker has submitted an answer to every task of the campaign that misses one."""


@transaction.atomic
def claim_tasks(
    *,
    campaign: Campaign,
    worker: Worker | None,
    page: int,
    count: int,
    seen: Collection[int] = (),
) -> list[Task]:
    """Claim up to `count` tasks for a page, those with most places left first.

    Claims turn nobody away: where no place is left, the page shares tasks with other pages. Tasks
    whose keys are in `seen` come last. `worker` is None for somebody of whom nothing was submitted
    yet. Raises NothingToDo.
    """
    tasks = _take(_Choice(campaign.tasks.open_to(worker), count, seen))
    if not tasks:
        raise NothingToDo("You have already done every open task in this campaign.")
    claim_again(page=page, tasks=tasks)
    return tasks


@transaction.atomic
def claim_again(*, page: int, tasks: Iterable[Task]) -> None:
    """Claim these tasks for a page, whatever places they have left."""
    tasks = list(tasks)
    move_places(Counter({task.pk: -1 for task in tasks}))
    Claim.objects.bulk_create(Claim(task=task, page_id=page) for task in tasks)


@dataclass(frozen=True)
class _Choice:
    """What a page may show: the tasks open to the worker, as many as fit, the unseen ones first."""

    open_tasks: TaskQuerySet
    count: int
    seen: Collection[int]

    @property
    def unseen(self) -> TaskQuerySet:
        return self.open_tasks.exclude(pk__in=self.seen) if self.seen else self.open_tasks

    @property
    def with_place(self) -> TaskQuerySet:
        return self.unseen.filter(places_left__gt=0)

    def best(self) -> list[int]:
        """The keys of the tasks to show, in their order."""
        keys = list(self.unseen.emptiest_first().values_list("pk", flat=True)[: self.count])
        if len(keys) < self.count and self.seen:
            again = self.open_tasks.filter(pk__in=self.seen).emptiest_first()
            keys += again.values_list("pk", flat=True)[: self.count - len(keys)]
        return keys


def _take(choice: _Choice) -> list[Task]:
    """The tasks, locked. Tasks that other pages are taking at this moment are passed over at first;
    only where too few with a place remain does the caller wait for the others.

    A caller that waits has no task locked that others wait for: what was locked is let go first,
    and the wait is in the order of the keys. Otherwise two that wait would be a deadlock.
    """
    for lock in chain([_lock_at_rest], repeat(_lock_in_turn)):
        with transaction.atomic():
            tasks = lock(choice)
            if tasks is not None:
                return tasks
            transaction.set_rollback(True)  # lets go of the locks
    raise AssertionError("never reached: the last way is repeated")


def _lock_at_rest(choice: _Choice) -> list[Task] | None:
    """The emptiest tasks that nobody else has locked, if enough of them have a place left."""
    at_rest = choice.with_place.select_for_update(skip_locked=True, of=("self",), no_key=True)
    tasks = list(at_rest.emptiest_first().with_subject()[: choice.count])
    return tasks if len(tasks) == choice.count else None


def _lock_in_turn(choice: _Choice) -> list[Task] | None:
    """The best tasks, once the others are done with them; None if they are not the best any more:
    one was finished, or lost its last place while another task has one."""
    keys = choice.best()
    chosen = choice.open_tasks.filter(pk__in=keys).order_by("pk")
    tasks = list(chosen.select_for_update(of=("self",), no_key=True).with_subject())
    if len(tasks) < len(keys):
        return None
    is_shared = any(task.places_left <= 0 and task.pk not in choice.seen for task in tasks)
    if is_shared and choice.with_place.exclude(pk__in=keys).exists():
        return None
    return sorted(tasks, key=lambda task: keys.index(task.pk))


@transaction.atomic
def release_claims(*, pages: Collection[int]) -> int:
    """End these pages' claims and give back the places that they took; returns how many claims
    there were."""
    claims = _locked(Claim.objects.filter(page__in=pages))
    Claim.objects.filter(pk__in=[claim.pk for claim in claims]).delete()
    move_places(Counter(claim.task_id for claim in claims if claim.takes_place))
    return len(claims)


@transaction.atomic
def give_back_places(*, pages: Collection[int]) -> None:
    """Let other pages have the places of these pages, which keep their tasks."""
    claims = _locked(Claim.objects.filter(page__in=pages, takes_place=True))
    Claim.objects.filter(pk__in=[claim.pk for claim in claims]).update(takes_place=False)
    move_places(Counter(claim.task_id for claim in claims))


@transaction.atomic
def take_places_again(*, page: int) -> None:
    """Let the page's claims take their places again, if they were given back."""
    claims = _locked(Claim.objects.filter(page=page, takes_place=False))
    Claim.objects.filter(pk__in=[claim.pk for claim in claims]).update(takes_place=True)
    move_places(Counter({claim.task_id: -1 for claim in claims}))


def _locked(claims: QuerySet[Claim]) -> list[Claim]:
    """The claims as they are once their tasks are locked, in the order of the tasks' keys."""
    keys = sorted(set(claims.values_list("task_id", flat=True)))
    for lot in lots(keys):
        lock_tasks(lot)
    # Somebody else may have changed some of them until now.
    return list(claims.filter(task__in=keys))
