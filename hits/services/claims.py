"""Choose and claim the tasks that a page shows, give their places back later, and recount them."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils.translation import gettext

from annotate.kinds import KINDS
from annotate.models import Campaign, Response, Task, Worker
from annotate.models.campaigns import TaskQuerySet
from annotate.services.responses import close_or_reopen, lock_tasks, move_places
from corpora.errors import DomainError
from corpora.selection.priming import primes_next
from hits.models import Claim
from shared.database.transactions import batches


class NothingToDo(DomainError):
    """No task of the campaign that still needs responses is open to the worker."""


# Without a savepoint: the callers let every error end their transactions.
@transaction.atomic(savepoint=False)
def claim_tasks(
    *,
    campaign: Campaign,
    worker: Worker | None,
    page: int,
    count: int,
    seen: QuerySet[Any, int] | None = None,
) -> list[Task]:
    """Claim up to `count` tasks for a page and return them; tasks with most places left come first.

    Claims never turn a worker away: if no places are left, pages share tasks. Tasks whose
    keys are in `seen` come last. `worker` is None for a worker without submitted responses.
    Raises NothingToDo if no task is open to the worker.
    """
    if seen is None:
        seen = Task.objects.none().values_list("pk", flat=True)
    tasks = _lock_chosen(_Choice(campaign, worker, count, seen))
    if not tasks:
        raise NothingToDo(gettext("You have already done every open task in this campaign."))
    _decide_priming(campaign, tasks)
    KINDS[campaign.kind].prepare(tasks)
    claim_again(page=page, tasks=tasks)
    return tasks


@transaction.atomic(savepoint=False)
def claim_again(*, page: int, tasks: Iterable[Task]) -> None:
    """Claim these tasks for a page that shows them already, even if they have no places left."""
    tasks = list(tasks)
    move_places(Counter({task.pk: -1 for task in tasks}))
    Claim.objects.bulk_create(Claim(task=task, page_id=page, primed=task.primed) for task in tasks)


def _decide_priming(campaign: Campaign, tasks: Iterable[Task]) -> None:
    """Decide whether the page shows the keywords of these tasks, if claims decide this.

    The tasks are locked, so the share of each image is right even if many pages open at once.
    Responses and claims count that take a place of the task.
    """
    undecided = {task.pk: task for task in tasks if task.shows_keywords is None}
    if not undecided:
        return
    responses = Response.objects.counting().filter(task__in=undecided)
    claims = Claim.objects.filter(task__in=undecided, takes_place=True)
    rows = [*responses.values_list("task", "primed"), *claims.values_list("task", "primed")]
    earlier = Counter(rows)
    for key, task in undecided.items():
        task.primed = primes_next(
            share=campaign.config.priming.share,
            seed=campaign.config.seed,
            number=task.number,
            primed=earlier[key, True],
            unprimed=earlier[key, False],
        )


@dataclass(frozen=True)
class _Choice:
    """How many of the campaign's open tasks to choose for a worker, and which the worker has
    seen."""

    campaign: Campaign
    worker: Worker | None
    count: int
    seen: QuerySet[Any, int]

    @property
    def open_tasks(self) -> TaskQuerySet:
        tasks: TaskQuerySet = Task.objects.filter(campaign=self.campaign)
        return tasks.open_to(self.worker)

    @property
    def unseen(self) -> TaskQuerySet:
        return self.open_tasks.exclude(pk__in=self.seen)

    @property
    def with_place(self) -> TaskQuerySet:
        return self.unseen.filter(places_left__gt=0)

    def best(self) -> list[int]:
        """Primary keys of the tasks to show, in the order in which to show them."""
        keys = list(self.unseen.emptiest_first().values_list("pk", flat=True)[: self.count])
        if len(keys) < self.count:
            again = self.open_tasks.filter(pk__in=self.seen).emptiest_first()
            keys += again.values_list("pk", flat=True)[: self.count - len(keys)]
        return keys


def _lock_chosen(choice: _Choice) -> list[Task]:
    """Lock and return the chosen tasks.

    The first attempt skips tasks that other transactions have locked. If too few unlocked tasks
    have a place left, later attempts wait for the locks.

    A waiting caller holds no locks that others wait for: each attempt starts by releasing all
    locks, and locks are taken in the order of the keys. Otherwise two waiting callers could
    deadlock.
    """
    # An attempt that looks for one task and finds none has locked none, so it needs no savepoint.
    if choice.count == 1 and (locked := _lock_unlocked(choice)) is not None:
        return locked
    first = [_lock_unlocked] if choice.count > 1 else []
    for lock in chain(first, repeat(_lock_waiting)):
        with transaction.atomic():
            tasks = lock(choice)
            if tasks is not None:
                return tasks
            transaction.set_rollback(True)  # releases the locks
    raise AssertionError("never reached: the last attempt is repeated")


def _lock_unlocked(choice: _Choice) -> list[Task] | None:
    """The best tasks that no other transaction has locked; None if too few have a place left."""
    unlocked = choice.with_place.select_for_update(skip_locked=True, of=("self",), no_key=True)
    tasks = list(unlocked.emptiest_first().with_material()[: choice.count])
    for task in tasks:
        task.campaign = choice.campaign
    return tasks if len(tasks) == choice.count else None


def _lock_waiting(choice: _Choice) -> list[Task] | None:
    """The best tasks, after waiting for their locks; None if the choice is out of date by then.

    It is out of date if a task was finished, or lost its last place while another task has one.
    """
    keys = choice.best()
    chosen = choice.open_tasks.filter(pk__in=keys).order_by("pk")
    tasks = list(chosen.select_for_update(of=("self",), no_key=True).with_subject())
    if len(tasks) < len(keys):
        return None
    seen = set(choice.seen)
    is_shared = any(task.places_left <= 0 and task.pk not in seen for task in tasks)
    if is_shared and choice.with_place.exclude(pk__in=keys).exists():
        return None
    return sorted(tasks, key=lambda task: keys.index(task.pk))


@transaction.atomic(savepoint=False)
def release_claims(*, pages: Collection[int]) -> None:
    """Delete the claims of these pages and give back their places."""
    claims = _locked(Claim.objects.filter(page__in=pages))
    Claim.objects.filter(pk__in=[claim.pk for claim in claims]).delete()
    freed = Counter(claim.task_id for claim in claims if claim.takes_place)
    move_places(freed, are_locked=True)


@transaction.atomic
def give_back_places(*, pages: Collection[int]) -> None:
    """Give back the places of these pages' claims. The pages keep their claims and tasks."""
    claims = _locked(Claim.objects.filter(page__in=pages, takes_place=True))
    Claim.objects.filter(pk__in=[claim.pk for claim in claims]).update(takes_place=False)
    move_places(Counter(claim.task_id for claim in claims), are_locked=True)


@transaction.atomic
def take_places_again(*, page: int) -> None:
    """Take back the places of a page's claims that `give_back_places` gave back."""
    claims = _locked(Claim.objects.filter(page=page, takes_place=False))
    Claim.objects.filter(pk__in=[claim.pk for claim in claims]).update(takes_place=True)
    move_places(Counter({claim.task_id: -1 for claim in claims}), are_locked=True)


def _locked(claims: QuerySet[Claim]) -> list[Claim]:
    """Lock the claims' tasks, in the order of their keys; return the claims as they are then."""
    keys = sorted(set(claims.values_list("task_id", flat=True)))
    for batch in batches(keys):
        lock_tasks(batch)
    # Another transaction may have changed some of them before the tasks were locked.
    return list(claims.filter(task__in=keys))


@transaction.atomic
def recount_places(campaign: Campaign) -> int:
    """Recompute the stored counters of each task from its rows; return how many were wrong."""
    Campaign.objects.locked(campaign.pk)
    tasks = list(campaign.tasks.order_by("pk").select_for_update(no_key=True))
    taking = Claim.objects.filter(task__campaign=campaign, takes_place=True)
    claims = dict(taking.values_list("task").annotate(Count("pk")))
    counting = dict(
        Response.objects.of(campaign).counting().values_list("task").annotate(Count("pk"))
    )
    wrong = []
    for task in tasks:
        missing = task.wanted - counting.get(task.pk, 0)
        most = missing if task.at_once is None else min(missing, task.at_once)
        places = most - claims.get(task.pk, 0)
        if (missing, places) != (task.answers_missing, task.places_left):
            task.answers_missing, task.places_left = missing, places
            wrong.append(task)
    Task.objects.bulk_update(wrong, ["answers_missing", "places_left"], batch_size=500)
    close_or_reopen([task.pk for task in tasks])
    return len(wrong)
