"""Add submitted responses, discard them and restore them."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import QuerySet

from annotate.kinds import KINDS, TaskKind
from annotate.models import Behaviour, Response, ResponseStatus, Task, Worker
from annotate.services.places import batches, lock_tasks, move_answers, settle_wanted


class Answered(NamedTuple):
    """An answer to a task, with the time it took in seconds and the fields of its Behaviour.

    The last two are None if the answer was not given on one of our pages.
    """

    task: Task
    answer: Any
    seconds: int | None = None
    behaviour: Mapping[str, Any] | None = None


class Submitted(NamedTuple):
    """The answers that a worker submitted together.

    `submission` is the key of their row, None for responses collected elsewhere.
    """

    worker: Worker
    answers: Sequence[Answered]
    submission: int | None = None


@transaction.atomic(savepoint=False)
def add_all_submitted(
    *, submitted: Sequence[Submitted], at: datetime, tasks: Collection[int] = ()
) -> list[list[Response]]:
    """Store what several workers submitted; return the new responses of each submission.

    An answer is skipped if the worker already has a response to its task. A task may get more
    responses than it wants, unless they build on each other: then a response that does not build on
    the last one that counts is stored as discarded. The caller must have locked the workers.
    `tasks` are others that the caller will change afterwards: they are locked now, together with
    those of the answers.
    """
    keys = sorted({answered.task.pk for each in submitted for answered in each.answers})
    # All at once and in order; otherwise two transactions may cause a deadlock.
    lock_tasks(sorted({*keys, *tasks}))
    workers = {each.worker.pk for each in submitted}
    pairs = Response.objects.filter(task__in=keys, worker__in=workers)
    known = set(pairs.values_list("worker_id", "task_id"))
    found: list[list[Response]] = []
    new: list[Answered] = []
    for worker, answers, submission in submitted:
        found.append([])
        for answered in answers:
            if (worker.pk, answered.task.pk) in known:
                continue
            known.add((worker.pk, answered.task.pk))
            new.append(answered)
            found[-1].append(
                Response(
                    campaign_id=answered.task.campaign_id,
                    task=answered.task,
                    worker=worker,
                    submission_id=submission,
                    submitted_at=at,
                    seconds=answered.seconds,
                    primed=answered.task.primed,
                    cannot_describe=KINDS[answered.task.campaign.kind].reason(answered.answer),
                )
            )
    unsaved = [*chain.from_iterable(found)]
    if new:
        _continue_chains(unsaved, new)
    responses = Response.objects.bulk_create(unsaved)
    _keep_content(responses, new)
    counting = [each for each in responses if each.status == ResponseStatus.SUBMITTED]
    moved = Counter(response.task_id for response in counting)
    move_answers(Counter({task: -number for task, number in moved.items()}), are_locked=True)
    if any(answered.task.campaign.config.captions.cannot_describe for answered in new[:1]):
        settle_wanted(moved.keys())
    return found


def _continue_chains(responses: Sequence[Response], answers: Sequence[Answered]) -> None:
    """Say which version each response builds on, and discard those that continue no chain: another
    response came first, or what they build on was discarded meanwhile."""
    kind = KINDS[answers[0].task.campaign.kind]
    if not kind.builds_on_answers:
        return
    known = Response.objects.filter(task__in={response.task_id for response in responses})
    versions = {(each.task_id, str(each.key)): each for each in known}
    ends = _ends(each.task_id for each in responses)
    for response, answered in zip(responses, answers, strict=True):
        base = versions.get((response.task_id, kind.base_of(answered.answer)))
        response.builds_on, response.round = base, (base.round or 0) + 1 if base else 1
        is_next = ends.get(response.task_id) == (base.pk if base else None)
        if is_next and response.round <= answered.task.wanted:
            ends[response.task_id] = 0  # no other response of this call builds on it
        else:
            response.status = ResponseStatus.DISCARDED


def _ends(tasks: Iterable[int]) -> dict[int, int]:
    """The key of the last version that counts, of those tasks that have one."""
    counting = Response.objects.counting().filter(task__in=set(tasks), round__isnull=False)
    return dict(counting.order_by("round").values_list("task", "pk"))


def continues_chain(response: Response) -> bool:
    """Whether a response that does not count builds on the last one of its task that does."""
    return response.round is None or (
        _ends([response.task_id]).get(response.task_id) == response.builds_on_id
    )


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
def add_collected(*, kind: TaskKind, answers: Sequence[tuple[Response, Any]]) -> None:
    """Store answers that were collected elsewhere: unsaved responses, each with its answer.

    A task may get more responses than it wants.
    """
    responses = Response.objects.bulk_create(response for response, _ in answers)
    kind.store(answers)
    moved = Counter(response.task_id for response in responses)
    move_answers(Counter({task: -number for task, number in moved.items()}))
    settle_wanted(moved.keys())


def in_batches(responses: QuerySet[Response]) -> Iterator[list[Response]]:
    """Yield all the responses in batches, so that memory does not grow with a worker's responses.

    They come in the order in which `discard` and `restore` lock their tasks.
    """
    keys = list(responses.order_by("task_id", "pk").values_list("pk", flat=True))
    for batch in batches(keys):
        named = Response.objects.filter(pk__in=batch).order_by("task_id", "pk")
        yield list(named.only("task_id", "worker_id", "status", "round", "builds_on_id"))


def discard(*, responses: Iterable[Response]) -> list[Response]:
    """Discard the responses, and those that build on them; return those that were not discarded
    before. Their tasks reopen."""
    return _move(responses, ResponseStatus.SUBMITTED, ResponseStatus.DISCARDED)


@transaction.atomic
def withdraw(*, responses: Iterable[Response], at: datetime) -> list[Response]:
    """Discard the responses for good; return those that were not withdrawn before.

    Also those that were discarded for another reason count as withdrawn from now on. The caller
    must have locked the workers.
    """
    found = [response for response in responses if response.withdrawn_at is None]
    discard(responses=found)
    keys = [response.pk for response in found]
    for batch in batches(keys):
        Response.objects.filter(pk__in=batch, withdrawn_at=None).update(withdrawn_at=at)
    return found


def restore(*, responses: Iterable[Response]) -> list[Response]:
    """Restore discarded responses; return those that were restored.

    A response stays discarded if it was withdrawn, if its task needs no more responses, or if it
    does not build on the last one that counts. Claims of open pages make no difference.
    """
    return _move(responses, ResponseStatus.DISCARDED, ResponseStatus.SUBMITTED)


@transaction.atomic(savepoint=False)
def _move(
    responses: Iterable[Response], old: ResponseStatus, new: ResponseStatus
) -> list[Response]:
    # Tasks are locked in the order of their keys, so that two callers cannot deadlock.
    ordered = sorted(responses, key=lambda response: (response.task_id, response.pk))
    return [response for batch in batches(ordered) for response in _move_batch(batch, old, new)]


def _move_batch(
    batch: Sequence[Response], old: ResponseStatus, new: ResponseStatus
) -> list[Response]:
    room = lock_tasks([response.task_id for response in batch])
    counts = new == ResponseStatus.SUBMITTED
    moved = _set_status(_that_fit(batch, room) if counts else _with_later(batch), old, new)
    change = -1 if counts else 1
    tasks = Counter(response.task_id for response in moved)
    changes = Counter({task: change * number for task, number in tasks.items()})
    move_answers(changes, are_locked=True)
    settle_wanted(tasks.keys())
    return moved


def _with_later(responses: Sequence[Response]) -> list[Response]:
    """The responses, and those that count and build on them. Their tasks are locked."""
    found = {response.pk: response for response in responses}
    newest = [response.pk for response in responses if response.round is not None]
    while newest:
        later = [
            response
            for response in Response.objects.counting().filter(builds_on__in=newest)
            if response.pk not in found
        ]
        newest = [response.pk for response in later]
        found |= {response.pk: response for response in later}
    return [*found.values()]


def _that_fit(responses: Sequence[Response], room: dict[int, int]) -> list[Response]:
    """The discarded responses that their tasks still need, the first ones of each task."""
    keys = [response.pk for response in responses]
    discarded = Response.objects.filter(
        pk__in=keys, status=ResponseStatus.DISCARDED, withdrawn_at=None
    )
    restorable = set(discarded.values_list("pk", flat=True))
    chained = [response.task_id for response in responses if response.round is not None]
    ends = _ends(chained) if chained else {}
    fit = []
    for response in responses:
        is_next = response.round is None or ends.get(response.task_id) == response.builds_on_id
        if response.pk in restorable and room[response.task_id] > 0 and is_next:
            room[response.task_id] -= 1
            ends[response.task_id] = response.pk
            fit.append(response)
    return fit


def _set_status(
    responses: Iterable[Response], old: ResponseStatus, new: ResponseStatus
) -> list[Response]:
    """Update the status of those responses that have the old one, in one statement; return them."""
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
