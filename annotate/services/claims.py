"""Giving places of tasks to workers, and taking them back."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import F

from annotate.errors import DomainError
from annotate.models import Campaign, Claim, ClaimStatus, Task, Worker


class NothingToDo(DomainError):
    """No task of the campaign has a place left that this worker could take."""


@transaction.atomic
def claim_tasks(
    *, campaign: Campaign, worker: Worker, count: int, at: datetime, expires_at: datetime
) -> list[Claim]:
    """Lease up to `count` tasks to the worker, the emptiest first; raises NothingToDo.

    The worker's row is locked first, so that a double click waits for the first one and then sees
    what it took. (SQLite has no row locks; there a transaction has the database to itself.)
    """
    Worker.objects.select_for_update().get(pk=worker.pk)
    claims: list[Claim] = []
    while len(claims) < count and (task := _take_place(campaign, worker, waits=not claims)):
        claims.append(
            Claim.objects.create(task=task, worker=worker, claimed_at=at, expires_at=expires_at)
        )
    if not claims:
        raise NothingToDo("There is nothing left in this campaign that you have not done.")
    return claims


def _take_place(campaign: Campaign, worker: Worker, *, waits: bool) -> Task | None:
    """A place of the emptiest open task. Tasks that rivals are busy with are passed over at first;
    only when there is no other does a worker with empty hands wait for them, as a place may remain.

    One waits in the guarded update and not in a locking select, which would keep its lock on each
    task that turned out to be full, and so bring two waiting workers to a deadlock.
    """
    tasks = campaign.tasks.open_to(worker).emptiest_first().with_subject()
    at_rest = tasks.select_for_update(skip_locked=True, of=("self",))
    while task := at_rest.first() or (tasks.first() if waits else None):
        has_place = Task.objects.filter(pk=task.pk, places_left__gt=0)
        if has_place.update(places_left=F("places_left") - 1):
            return task
    return None


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


def move_places(changes: Counter[int]) -> None:
    """Add to each task's places left; tasks in the order of their keys, so that two callers never
    wait for each other."""
    for task_id, change in sorted(changes.items()):
        if change:
            Task.objects.filter(pk=task_id).update(places_left=F("places_left") + change)
