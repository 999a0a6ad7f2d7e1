"""Storing answers, counting them once they are submitted, discarding and restoring them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from annotate.kinds import KINDS
from annotate.models import (
    Behaviour,
    Caption,
    Claim,
    ClaimStatus,
    Response,
    ResponseStatus,
    Task,
    Worker,
)
from annotate.services.places import lock_tasks, lots, move_places

NOT_COUNTED = dict.fromkeys(
    ["keystrokes", "pastes", "pasted_characters", "seconds_writing", "times_left"]
)


@transaction.atomic
def store_answer(
    *,
    task: Task,
    worker: Worker,
    answer: Any,
    at: datetime,
    claim: Claim | None = None,
    seconds: int | None = None,
) -> Response:
    """Keep the worker's answer; sent again before it was submitted, the later one stands.

    An answer that was submitted already is left as it is, and returned.
    """
    response, _ = Response.objects.get_or_create(
        task=task,
        worker=worker,
        defaults={"claim": claim, "stored_at": at, "seconds": seconds},
    )
    if response.status == ResponseStatus.STORED:
        if claim is not None and response.claim_id != claim.pk:
            Response.objects.filter(pk=response.pk).update(claim=claim)
            response.claim = claim
        KINDS[task.campaign.kind].store(response, answer)
    return response


def keep_behaviour(*, response: Response, device: str, counts: Mapping[str, float]) -> None:
    """Keep how the answer came about; of one that was sent again, how the later one did."""
    Behaviour.objects.update_or_create(
        response=response, defaults={"device": device, **NOT_COUNTED, **counts}
    )


@transaction.atomic
def add_collected(*, responses: Sequence[Response], texts: Sequence[str]) -> None:
    """Keep captions that were submitted elsewhere, and count them from now on: responses not saved
    yet, with the text of each. A task may so have more than it wants."""
    Response.objects.bulk_create(responses)
    Caption.objects.bulk_create(
        Caption(response=response, text=text)
        for response, text in zip(responses, texts, strict=True)
    )
    move_places(Counter({task: -n for task, n in Counter(r.task_id for r in responses).items()}))


@transaction.atomic
def confirm_submitted(*, response: Response, at: datetime) -> bool:
    """Count a stored response from now on; False if it was submitted before."""
    stored = Response.objects.filter(pk=response.pk, status=ResponseStatus.STORED)
    if not stored.update(status=ResponseStatus.SUBMITTED, submitted_at=at):
        return False
    lease = Claim.objects.filter(response=response)
    held = lease.held().update(status=ClaimStatus.USED)
    if not held:
        # Its lease was given up, so the place that it kept is taken again, perhaps below zero.
        lease.update(status=ClaimStatus.USED)
        move_places(Counter({response.task_id: -1}))
    response.status, response.submitted_at = ResponseStatus.SUBMITTED, at
    return True


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
    """Let discarded responses count again where their tasks still have a place; returns those
    that do from now on and did not until now."""
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
    takes_place = new == ResponseStatus.SUBMITTED
    moved = _set_status(_that_fit(lot, room) if takes_place else lot, old, new)
    change = -1 if takes_place else 1
    tasks = Counter(response.task_id for response in moved)
    move_places(Counter({task: change * number for task, number in tasks.items()}))
    return moved


def _that_fit(responses: Sequence[Response], room: dict[int, int]) -> list[Response]:
    """Of the discarded responses to each task, the first ones, as many as it has places left."""
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
