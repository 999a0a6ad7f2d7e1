"""The stored counters of tasks, which move with claims and responses, one or thousands at a time.

A caller that moves several tasks takes them in the order of their keys, so that two callers never
wait for each other.
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
    """Make every other transaction that moves these tasks wait for this one; returns the answers
    that each task misses. (SQLite has no row locks; there a transaction has the database to
    itself.)"""
    locked = Task.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk")
    return dict(locked.values_list("pk", "answers_missing"))


def move_places(changes: Counter[int]) -> None:
    """Add to the places left of each task, as its claims come and go."""
    _move(changes, ["places_left"])


def move_answers(changes: Counter[int]) -> None:
    """Add to the answers that each task misses, and so to its places left."""
    _move(changes, ["answers_missing", "places_left"])


def _move(changes: Counter[int], columns: Sequence[str]) -> None:
    """Add the changes with one update for all tasks of a lot that change by as many."""
    for lot in lots(sorted(task for task, change in changes.items() if change)):
        if len(lot) > 1:
            lock_tasks(lot)
        for change in {changes[task] for task in lot}:
            tasks = Task.objects.filter(pk__in=[task for task in lot if changes[task] == change])
            tasks.update(**{column: F(column) + change for column in columns})
