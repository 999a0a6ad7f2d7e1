"""Adding responses that were submitted, discarding and restoring them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import QuerySet

from annotate.kinds import KINDS
from annotate.models import Behaviour, Caption, Response, ResponseStatus, Task, Worker
from annotate.services.places import lock_tasks, lots, move_answers


class Answered(NamedTuple):
    """An answer to a task, and what is known of how it was made: columns of Behaviour, or None for
    an answer that was not given on a page of ours."""

    task: Task
    answer: Any
    seconds: int | None = None
    behaviour: Mapping[str, Any] | None = None


@transaction.atomic
def add_submitted(
    *,
    worker: Worker,
    answers: Sequence[Answered],
    at: datetime,
    assignment: int | None = None,
) -> list[Response]:
    """Keep answers that the worker submitted, in the assignment with this key if it was here, and
    count them; returns the new responses.

    An answer to a task to which the worker has a response already is left out. A task may end up
    with more responses than it wants. The caller has locked the worker.
    """
    keys = sorted({answered.task.pk for answered in answers})
    lock_tasks(keys)
    known = set(worker.responses.filter(task__in=keys).values_list("task_id", flat=True))
    new = [answered for answered in answers if answered.task.pk not in known]
    responses = Response.objects.bulk_create(
        Response(
            task=answered.task,
            worker=worker,
            assignment_id=assignment,
            submitted_at=at,
            seconds=answered.seconds,
        )
        for answered in new
    )
    _keep_content(responses, new)
    move_answers(Counter({response.task_id: -1 for response in responses}))
    return responses


def _keep_content(responses: Sequence[Response], answers: Sequence[Answered]) -> None:
    pairs = list(zip(responses, answers, strict=True))
    if pairs:
        kind = KINDS[answers[0].task.campaign.kind]
        kind.store([(response, answered.answer) for response, answered in pairs])
    Behaviour.objects.bulk_create(
        Behaviour(response=response, **answered.behaviour)
        for response, answered in pairs
        if answered.behaviour is not None
    )


@transaction.atomic
def add_collected(*, responses: Sequence[Response], texts: Sequence[str]) -> None:
    """Keep captions that were submitted elsewhere, and count them from now on: responses not saved
    yet, with the text of each. A task may end up with more than it wants."""
    Response.objects.bulk_create(responses)
    Caption.objects.bulk_create(
        Caption(response=response, text=text)
        for response, text in zip(responses, texts, strict=True)
    )
    move_answers(Counter({task: -n for task, n in Counter(r.task_id for r in responses).items()}))


def in_lots(responses: QuerySet[Response]) -> Iterator[list[Response]]:
    """All the responses, some hundreds at a time, so that a worker of thousands takes no more
    memory than one of a few. For `discard` and `restore`, which lock their tasks in this order."""
    keys = list(responses.order_by("task_id", "pk").values_list("pk", flat=True))
    for lot in lots(keys):
        named = Response.objects.filter(pk__in=lot).order_by("task_id", "pk")
        yield list(named.only("task_id", "worker_id", "status"))


def discard(*, responses: Iterable[Response]) -> list[Response]:
    """Take responses out of the count, so that their tasks want others; returns those that were
    counting until now."""
    return _move(responses, ResponseStatus.SUBMITTED, ResponseStatus.DISCARDED)


def restore(*, responses: Iterable[Response]) -> list[Response]:
    """Let discarded responses count again where their tasks still miss answers, whatever pages are
    open; returns those that do from now on and did not until now."""
    return _move(responses, ResponseStatus.DISCARDED, ResponseStatus.SUBMITTED)


@transaction.atomic
def _move(
    responses: Iterable[Response], old: ResponseStatus, new: ResponseStatus
) -> list[Response]:
    # In the order of their tasks, so that two callers never wait for each other.
    ordered = sorted(responses, key=lambda response: (response.task_id, response.pk))
    return [response for lot in lots(ordered) for response in _move_lot(lot, old, new)]


def _move_lot(lot: Sequence[Response], old: ResponseStatus, new: ResponseStatus) -> list[Response]:
    room = lock_tasks([response.task_id for response in lot])
    counts = new == ResponseStatus.SUBMITTED
    moved = _set_status(_that_fit(lot, room) if counts else lot, old, new)
    change = -1 if counts else 1
    tasks = Counter(response.task_id for response in moved)
    move_answers(Counter({task: change * number for task, number in tasks.items()}))
    return moved


def _that_fit(responses: Sequence[Response], room: dict[int, int]) -> list[Response]:
    """Of the discarded responses to each task, the first ones, as many as it misses answers."""
    keys = [response.pk for response in responses]
    discarded = Response.objects.filter(pk__in=keys, status=ResponseStatus.DISCARDED)
    restorable = set(discarded.values_list("pk", flat=True))
    fit = []
    for response in responses:
        if response.pk in restorable and room[response.task_id] > 0:
            room[response.task_id] -= 1
            fit.append(response)
    return fit


def _set_status(
    responses: Iterable[Response], old: ResponseStatus, new: ResponseStatus
) -> list[Response]:
    """Move those responses that have the old status, in one guarded update; returns them."""
    by_key = {response.pk: response for response in responses}
    if not by_key:
        return []
    table = Response._meta.db_table
    names = ", ".join(["%s"] * len(by_key))
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET status = %s WHERE status = %s AND id IN ({names}) RETURNING id",
            [new, old, *by_key],
        )
        moved = [by_key[key] for (key,) in sorted(cursor.fetchall())]
    for response in moved:
        response.status = new
    return moved
