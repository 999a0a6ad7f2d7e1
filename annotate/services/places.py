"""The places left of tasks, which move with claims and responses, one or thousands at a time.

Whoever moves places of several tasks takes them in the order of their keys, so that two callers
never wait for each other.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

from django.db.models import F

from annotate.models import Task

# So many rows are named in one statement, and held in memory.
LOT = 1_000
T = TypeVar("T")


def lots(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """The rows in their order, `LOT` at a time."""
    for start in range(0, len(rows), LOT):
        yield rows[start : start + LOT]


def lock_tasks(keys: Sequence[int]) -> dict[int, int]:
    """Have everybody else who moves places of these tasks wait for this transaction; the places
    left of each. (SQLite has no row locks; there a transaction has the database to itself.)"""
    locked = Task.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk")
    return dict(locked.values_list("pk", "places_left"))


def move_places(changes: Counter[int]) -> None:
    """Add to each task's places left, with one update for all tasks of a lot whose places change
    by as many."""
    for lot in lots(sorted(task for task, change in changes.items() if change)):
        if len(lot) > 1:
            lock_tasks(lot)
        for change in {changes[task] for task in lot}:
            tasks = [task for task in lot if changes[task] == change]
            Task.objects.filter(pk__in=tasks).update(places_left=F("places_left") + change)
