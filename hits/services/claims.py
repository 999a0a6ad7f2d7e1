"""Choose and claim the tasks that a page shows, give their places back later, and recount them."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import chain, repeat

from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext

from annotate.kinds import KINDS
from annotate.models import Campaign, GivenCaption, Image, Response, Task, Worker
from annotate.models.campaigns import TaskQuerySet
from annotate.services.responses import close_or_reopen, lock_tasks, move_places
from corpora.errors import DomainError
from corpora.selection.priming import primes_next
from hits.models import Claim, TaskPage
from shared.database.transactions import batches

# Maximum number of tasks on a worker's other pages that a new page does not show again.
MOST_SEEN = 300


class NothingToDo(DomainError):
    """No task of the campaign that still needs responses is open to the worker."""


# Without a savepoint: the callers let every error end their transactions.
@transaction.atomic(savepoint=False)
def claim_tasks(
    *,
    campaign: Campaign,
    worker: Worker | None,
    page: TaskPage,
    count: int,
) -> list[Task]:
    """Claim up to `count` tasks for a page and return them; tasks with most places left come first.

    Claims never turn a worker away: if no places are left, pages share tasks. Tasks that other
    pages with the worker's id show come last. `worker` is None for a worker without submitted
    responses. Raises NothingToDo if no task is open to the worker.
    """
    tasks = _lock_chosen(_Choice(campaign, worker, page, count))
    if not tasks:
        raise NothingToDo(gettext("You have already done every open task in this campaign."))
    _decide_priming(campaign, tasks)
    KINDS[campaign.kind].prepare(tasks)
    claim_again(page=page.pk, tasks=tasks)
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
    """How many of the campaign's open tasks to choose for a worker's page."""

    campaign: Campaign
    worker: Worker | None
    page: TaskPage
    count: int

    @property
    def seen(self) -> QuerySet[Claim, int]:
        """Primary keys of the latest tasks on other pages with the worker's id, of any campaign.

        Pages of this HIT count only while they take places; otherwise the worker has returned them.
        Pages of other HITs always count. A forged page can make them give back their places, and
        the worker would then do a task twice and be paid once.
        """
        claims = Claim.objects.filter(
            Q(takes_place=True) | ~Q(page__hit=self.page.hit_id),
            page__marketplace_id=self.page.marketplace_id,
        )
        return claims.order_by("-pk").values_list("task_id", flat=True)[:MOST_SEEN]

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


# The rows of `_Choice.with_place`, the emptiest first, in plain SQL: almost every page needs them,
# and Django takes longer to build this than PostgreSQL to run it. A test compares the two.
_WITH_PLACE = """
SELECT task.* FROM annotate_task AS task
WHERE task.campaign_id = %(campaign)s AND task.answers_missing > 0 AND task.places_left > 0
  AND (task.at_once IS NULL OR task.at_once <> 0)
  AND NOT EXISTS (
      SELECT 1 FROM annotate_response WHERE task_id = task.id AND worker_id = %(worker)s)
  AND task.id NOT IN (
      SELECT task_id FROM (
          SELECT claim.task_id FROM hits_claim AS claim
          JOIN hits_taskpage AS page ON page.id = claim.page_id
          WHERE page.marketplace_id = %(page_worker)s
            AND (claim.takes_place OR page.hit_id <> %(hit)s)
          ORDER BY claim.id DESC LIMIT %(most_seen)s) AS seen)
ORDER BY task.places_left DESC, task.number LIMIT %(count)s
"""


def _lock_unlocked(choice: _Choice) -> list[Task] | None:
    """The best tasks that no other transaction has locked; None if too few have a place left."""
    # SQLite locks the whole database.
    lock = "FOR NO KEY UPDATE OF task SKIP LOCKED" if connection.vendor == "postgresql" else ""
    values = {
        "campaign": choice.campaign.pk,
        "worker": choice.worker and choice.worker.pk,
        "page_worker": choice.page.marketplace_id,
        "hit": choice.page.hit_id,
        "most_seen": MOST_SEEN,
        "count": choice.count,
    }
    tasks = list(Task.objects.raw(_WITH_PLACE + lock, values))
    if len(tasks) < choice.count:
        return None
    images = Image.objects.in_bulk([task.image_id for task in tasks])
    subjects = GivenCaption.objects.in_bulk([task.subject_id for task in tasks if task.subject_id])
    for task in tasks:
        task.campaign, task.image = choice.campaign, images[task.image_id]
        task.subject = subjects.get(task.subject_id)
    return tasks


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
