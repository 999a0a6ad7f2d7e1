"""Update the stored counters of tasks, for one task or for thousands.

Callers that change several tasks lock them first, in the order of their keys, so that two callers
cannot deadlock.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

from django.db.models import F

from annotate.models import Task

# Maximum number of rows in one statement and in memory.
BATCH = 1_000
T = TypeVar("T")


def batches(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """The rows in their order, in batches of `BATCH`."""
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]


def lock_tasks(keys: Collection[int]) -> dict[int, int]:
    """Lock the tasks until the transaction ends; return the number of answers that each one misses.

    SQLite has no row locks: there a writing transaction has the whole database to itself.
    """
    locked = Task.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk")
    return dict(locked.values_list("pk", "answers_missing"))


def move_places(changes: Counter[int], *, are_locked: bool = False) -> None:
    """Add these changes to `places_left`, by task key. Locks the tasks, unless the caller has."""
    _move(changes, ["places_left"], are_locked)


def move_answers(changes: Counter[int], *, are_locked: bool = False) -> None:
    """Add these changes to `answers_missing` and to `places_left`, by task key. Locks the
    tasks, unless the caller has."""
    _move(changes, ["answers_missing", "places_left"], are_locked)


def _move(changes: Counter[int], columns: Sequence[str], are_locked: bool) -> None:
    """Apply the changes with one update per batch for all tasks that change by the same number."""
    for batch in batches(sorted(task for task, change in changes.items() if change)):
        # An update of one row locks it itself.
        if len(batch) > 1 and not are_locked:
            lock_tasks(batch)
        for change in {changes[task] for task in batch}:
            tasks = Task.objects.filter(pk__in=[task for task in batch if changes[task] == change])
            tasks.update(**{column: F(column) + change for column in columns})
