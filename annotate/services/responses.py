"""Add submitted responses, discard them and restore them, and update the stored counters of their
tasks.

Callers that change several tasks lock them first, in the order of their keys, so that two callers
cannot deadlock.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Count, F, Q, QuerySet, SmallIntegerField
from django.db.models.functions import Least

from annotate.kinds import KINDS, TaskKind
from annotate.models import Behaviour, Campaign, Response, ResponseStatus, Task, Worker
from annotate.models.campaigns import most_places
from shared.database.transactions import batches


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
    keys = sorted({answered.task.pk for answers_of in submitted for answered in answers_of.answers})
    # All at once and in order; otherwise two transactions may cause a deadlock.
    lock_tasks(sorted({*keys, *tasks}))
    workers = {answers_of.worker.pk for answers_of in submitted}
    pairs = Response.objects.filter(task__in=keys, worker__in=workers)
    answered_before = set(pairs.values_list("worker_id", "task_id"))
    added: list[list[Response]] = []
    new: list[Answered] = []
    for worker, answers, submission in submitted:
        added.append([])
        for answered in answers:
            if (worker.pk, answered.task.pk) in answered_before:
                continue
            answered_before.add((worker.pk, answered.task.pk))
            new.append(answered)
            added[-1].append(
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
    unsaved = [*chain.from_iterable(added)]
    if new:
        _continue_chains(unsaved, new)
    responses = Response.objects.bulk_create(unsaved)
    _keep_content(responses, new)
    counting = [response for response in responses if response.status == ResponseStatus.SUBMITTED]
    answered_tasks = [response.task_id for response in counting]
    add_to_missing(answered_tasks, -1, are_locked=True)
    if any(answered.task.campaign.config.captions.cannot_describe for answered in new[:1]):
        close_or_reopen(answered_tasks)
    return added


def _continue_chains(responses: Sequence[Response], answers: Sequence[Answered]) -> None:
    """Say which version each response builds on, and discard those that continue no chain: another
    response came first, or what they build on was discarded meanwhile."""
    kind = KINDS[answers[0].task.campaign.kind]
    if not kind.builds_on_answers:
        return
    existing = Response.objects.filter(task__in={response.task_id for response in responses})
    versions = {(response.task_id, str(response.key)): response for response in existing}
    ends = _ends(response.task_id for response in responses)
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
    answered_tasks = [response.task_id for response in responses]
    add_to_missing(answered_tasks, -1)
    close_or_reopen(answered_tasks)


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
    withdrawn = [response for response in responses if response.withdrawn_at is None]
    discard(responses=withdrawn)
    keys = [response.pk for response in withdrawn]
    for batch in batches(keys):
        Response.objects.filter(pk__in=batch, withdrawn_at=None).update(withdrawn_at=at)
    return withdrawn


def restore(*, responses: Iterable[Response]) -> list[Response]:
    """Restore discarded responses; return those that were restored.

    A response stays discarded if it was withdrawn or is lost, if its task needs no more responses,
    or if it does not build on the last one that counts. Claims of open pages make no difference.
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
    will_count = new == ResponseStatus.SUBMITTED
    moved = _set_status(_that_fit(batch, room) if will_count else _with_later(batch), old, new)
    tasks = [response.task_id for response in moved]
    add_to_missing(tasks, -1 if will_count else 1, are_locked=True)
    close_or_reopen(tasks)
    return moved


def _with_later(responses: Sequence[Response]) -> list[Response]:
    """The responses, and those that count and build on them. Their tasks are locked."""
    by_key = {response.pk: response for response in responses}
    newest = [response.pk for response in responses if response.round is not None]
    while newest:
        later = [
            response
            for response in Response.objects.counting().filter(builds_on__in=newest)
            if response.pk not in by_key
        ]
        newest = [response.pk for response in later]
        by_key |= {response.pk: response for response in later}
    return [*by_key.values()]


def _that_fit(responses: Sequence[Response], room: dict[int, int]) -> list[Response]:
    """The discarded responses that their tasks still need, the first ones of each task."""
    keys = [response.pk for response in responses]
    discarded = Response.objects.filter(
        pk__in=keys, status=ResponseStatus.DISCARDED, withdrawn_at=None, submission__lost_at=None
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


def lock_tasks(keys: Collection[int]) -> dict[int, int]:
    """Lock the tasks until the transaction ends; return the number of answers that each one misses.

    SQLite has no row locks: there a writing transaction has the whole database to itself.
    """
    locked = Task.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk")
    return dict(locked.values_list("pk", "answers_missing"))


def move_places(changes: Counter[int], *, are_locked: bool = False) -> None:
    """Add these changes to `places_left`, by task key. Locks the tasks, unless the caller has."""
    _change(changes, lambda change: {"places_left": F("places_left") + change}, are_locked)


def add_to_missing(tasks: Iterable[int], change: int, *, are_locked: bool = False) -> None:
    """Add the change to the tasks' `answers_missing`, and to `places_left` what follows from it.

    `tasks` has the key of a task once for each of its responses. Locks the tasks, unless the caller
    has.
    """
    changes = Counter({task: change * number for task, number in Counter(tasks).items()})
    _change(changes, _missing_changed, are_locked)


def _missing_changed(change: int) -> dict[str, Any]:
    missing = F("answers_missing")
    places = most_places(missing + change) - most_places(missing)
    return {"answers_missing": missing + change, "places_left": F("places_left") + places}


def set_at_once(numbers: Mapping[int, int]) -> None:
    """Collect at most this many answers at the same time, by task key. The caller has locked the
    tasks."""
    for number in set(numbers.values()):
        tasks = Task.objects.filter(pk__in=[key for key in numbers if numbers[key] == number])
        missing = F("answers_missing")
        places = Least(missing, number, output_field=SmallIntegerField()) - most_places(missing)
        tasks.exclude(at_once=number).update(at_once=number, places_left=F("places_left") + places)


def close_or_reopen(keys: Collection[int]) -> None:
    """Close the tasks whose images enough workers could not describe, and open those again that
    have too few such responses by now. The caller holds the tasks' locks, and has updated
    their `answers_missing`.

    A closed task wants the responses that it has, so its places vanish; any other one wants as many
    as the campaign.
    """
    said = Response.objects.filter(task__in=keys).exclude(cannot_describe="").values("task")
    counts = Q(responses__status=ResponseStatus.SUBMITTED)
    reasons = Count("responses", filter=counts & ~Q(responses__cannot_describe=""))
    tasks = Task.objects.filter(pk__in=said).annotate(has=Count("responses", filter=counts))
    rows = list(
        tasks.annotate(reasons=reasons).values_list("pk", "campaign", "wanted", "has", "reasons")
    )
    campaigns = Campaign.objects.in_bulk({campaign for _, campaign, *_ in rows})
    for key, campaign, wanted, has, without in rows:
        config = campaigns[campaign].config
        is_closed = without >= config.captions.cannot_describe_quorum
        change = (has if is_closed else config.wanted) - wanted
        if change:
            moved = ("wanted", "answers_missing", "places_left")
            changed = {column: F(column) + change for column in moved}
            Task.objects.filter(pk=key).update(**changed)


def _change(
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
