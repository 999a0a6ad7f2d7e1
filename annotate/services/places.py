"""Update the stored counters of tasks, for one task or for thousands.

Callers that change several tasks lock them first, in the order of their keys, so that two callers
cannot deadlock.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from django.db.models import Count, F, Q, SmallIntegerField
from django.db.models.functions import Least

from annotate.models import Campaign, Response, ResponseStatus, Task
from annotate.models.campaigns import most_places

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
    _move(changes, lambda change: {"places_left": F("places_left") + change}, are_locked)


def move_answers(changes: Counter[int], *, are_locked: bool = False) -> None:
    """Add these changes to `answers_missing` and to `places_left`, by task key. Locks the
    tasks, unless the caller has."""
    _move(changes, _answers_moved, are_locked)


def _answers_moved(change: int) -> dict[str, Any]:
    missing = F("answers_missing")
    places = most_places(missing + change) - most_places(missing)
    return {"answers_missing": missing + change, "places_left": F("places_left") + places}


def set_at_once(numbers: Mapping[int, int]) -> None:
    """Collect so many answers at the same time, by task key. The caller has locked the tasks."""
    for number in set(numbers.values()):
        tasks = Task.objects.filter(pk__in=[key for key in numbers if numbers[key] == number])
        missing = F("answers_missing")
        places = Least(missing, number, output_field=SmallIntegerField()) - most_places(missing)
        tasks.exclude(at_once=number).update(at_once=number, places_left=F("places_left") + places)


def settle_wanted(keys: Collection[int]) -> None:
    """Close the tasks whose images enough workers could not describe, and open those again that
    have too few such responses by now. The caller holds the tasks' locks, and has moved their
    answers.

    A closed task wants the responses that it has, so its places vanish; any other one wants as many
    as the campaign.
    """
    said = Response.objects.filter(task__in=keys).exclude(cannot_describe="").values("task")
    counts = Q(responses__status=ResponseStatus.SUBMITTED)
    reasons = Count("responses", filter=counts & ~Q(responses__cannot_describe=""))
    tasks = Task.objects.filter(pk__in=said).annotate(has=Count("responses", filter=counts))
    found = list(
        tasks.annotate(reasons=reasons).values_list("pk", "campaign", "wanted", "has", "reasons")
    )
    campaigns = Campaign.objects.in_bulk({campaign for _, campaign, *_ in found})
    for key, campaign, wanted, has, without in found:
        config = campaigns[campaign].config
        is_closed = without >= config.captions.cannot_describe_quorum
        change = (has if is_closed else config.wanted) - wanted
        if change:
            moved = ("wanted", "answers_missing", "places_left")
            changed = {column: F(column) + change for column in moved}
            Task.objects.filter(pk=key).update(**changed)


def _move(
    changes: Counter[int], columns: Callable[[int], Mapping[str, Any]], are_locked: bool
) -> None:
    """Apply the changes with one update per batch for all tasks that change by the same number."""
    for batch in batches(sorted(task for task, change in changes.items() if change)):
        # An update of one row locks it itself.
        if len(batch) > 1 and not are_locked:
            lock_tasks(batch)
        for change in {changes[task] for task in batch}:
            tasks = Task.objects.filter(pk__in=[task for task in batch if changes[task] == change])
            tasks.update(**columns(change))
