"""Flags of responses, kept in the database: made when a response is submitted, and those that
compare it with its image's other answers made anew when another one arrives."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from operator import attrgetter
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import QuerySet

from annotate.kinds import KINDS
from annotate.models import Behaviour, Campaign, Response, ResponseStatus, Task
from annotate.queries.keywords import keywords
from qualcontrol.flags import Conduct, Flag, Neighbour, codes, image_flags, lasting_flags
from qualcontrol.flags.image import CODES as IMAGE_CODES
from qualcontrol.models import Assessment
from qualcontrol.services.filed_captions import FiledCaptions
from qualcontrol.services.prepared import Rows, prepared


class Answer(NamedTuple):
    """An assessed response as far as a comparison needs it: an image may have forty."""

    pk: int
    task: int
    worker: int
    status: str
    content: Any
    flags: list[dict[str, Any]]
    codes: str


@transaction.atomic
def assess(
    *,
    campaign: Campaign,
    responses: Sequence[Response],
    known: Mapping[int, Sequence[Flag]] | None = None,
) -> set[int]:
    """Flag responses that were just submitted, and compare their images' other answers anew; the
    keys of the workers whose flags came or changed. `known` has lasting flags that some of the
    responses are known to have, by response.

    A response that was assessed before keeps its lasting flags. The workers' rows are locked by
    the caller, so that each response gets a place of its own in its worker's work.
    """
    tasks = {response.task_id for response in responses}
    arrived = {response.pk for response in responses}
    _lock(tasks)
    assessed = _answers(campaign, tasks)
    assessed_before = {answer.pk for answer in assessed}
    arrived_now = [response for response in responses if response.pk not in assessed_before]
    new = _add(campaign, arrived_now, known or {})
    earlier = [a for a in assessed if a.status == ResponseStatus.SUBMITTED or a.pk in arrived]
    return {answer.worker for answer in new} | _compare(campaign, [*earlier, *new])


def flags_if_written(*, task: Task, text: str) -> list[dict[str, Any]]:
    """The flags that a text would have as the first caption of a new worker; nothing is kept."""
    campaign = task.campaign
    newcomer = Response(pk=0, task=task, worker_id=0, status=ResponseStatus.SUBMITTED)
    lasting = lasting_flags(
        Neighbour(key=0, worker=0, text=text),
        campaign.config,
        _Unchanged(campaign),
        keywords=partial(_shown_keywords, newcomer),
    )
    others = [a for a in _answers(campaign, [task.pk]) if a.status == ResponseStatus.SUBMITTED]
    answer = Answer(0, task.pk, 0, ResponseStatus.SUBMITTED, text, [], "")
    *_, comparing = _comparing(campaign, [*others, answer])
    flags: list[dict[str, Any]] = _columns([*lasting, *comparing])["flags"]
    return flags


class _Unchanged(FiledCaptions):
    """The captions as they are; what is looked up is not filed."""

    def file(self, caption: Neighbour, keys: Sequence[int]) -> None:
        pass

    def note_copy(self, caption: Neighbour, original: Neighbour, similarity: float) -> None:
        pass


def _lock(tasks: Collection[int]) -> None:
    """Have two answers to one task that come in at the same moment see each other. The keys are
    left alone, so that a release can refer to the tasks at the same time. (SQLite has no row locks;
    there a transaction has the database to itself.)"""
    if connection.features.has_select_for_update:
        locked = Task.objects.select_for_update(no_key=True).filter(pk__in=tasks).order_by("pk")
        list(locked.values_list("pk"))


def _add(
    campaign: Campaign, responses: Sequence[Response], known: Mapping[int, Sequence[Flag]]
) -> list[Answer]:
    """Give each response its assessment, with the flags that last."""
    filed = FiledCaptions(campaign)
    content_of = attrgetter(KINDS[campaign.kind].content_column.replace("__", "."))
    answers = []
    for response in responses:
        place = filed.take_place(response.worker_id)
        flags = _columns([*_lasting(campaign, response, filed), *known.get(response.pk, ())])
        Assessment.objects.create(
            response_id=response.pk,
            campaign=campaign,
            worker_id=response.worker_id,
            position=place,
            **flags,
        )
        answers.append(
            Answer(
                response.pk,
                response.task_id,
                response.worker_id,
                response.status,
                content_of(response),
                **flags,
            )
        )
    return answers


def _lasting(campaign: Campaign, response: Response, filed: FiledCaptions) -> list[Flag]:
    conduct = _conduct(response)
    answer = Neighbour(
        key=response.pk,
        worker=response.worker_id,
        text=KINDS[campaign.kind].text(response),
        at=response.submitted_at,
        device=conduct.device,
    )
    return lasting_flags(
        answer,
        campaign.config,
        filed,
        conduct=conduct,
        keywords=partial(_shown_keywords, response),
    )


def _conduct(response: Response) -> Conduct:
    """How the answer came about, as far as it is known."""
    return Conduct(response.seconds, *(row for rows in _behaviour(response.pk) for row in rows))


@prepared
def _behaviour(response: int) -> QuerySet[Any, Any]:
    counted = Behaviour.objects.filter(response=response)
    return counted.values_list(
        "keystrokes", "pastes", "pasted_characters", "seconds_writing", "times_left", "device"
    )


def _shown_keywords(response: Response) -> list[str]:
    task = response.task
    return keywords(task.image) if task.shows_keywords else []


def _columns(flags: Iterable[Flag]) -> dict[str, Any]:
    flags = sorted(flags, key=lambda flag: flag.code)
    return {"flags": [flag.as_json() for flag in flags], "codes": " ".join(codes(flags))}


def _answers(campaign: Campaign, tasks: Iterable[int]) -> list[Answer]:
    """The assessed answers to the tasks, in the order of their keys, in which everybody changes
    their assessments."""
    read = _reader(KINDS[campaign.kind].content_column)
    answers = [Answer(*row) for task in sorted(tasks) for row in read(task)]
    return sorted(answers, key=attrgetter("pk"))


@cache
def _reader(column: str) -> Callable[..., Rows]:
    """The query for the answers to a task, of a kind whose answers stand in this column."""

    @prepared
    def read(task: int) -> QuerySet[Any, Any]:
        return Assessment.objects.filter(response__task=task).values_list(
            "pk",
            "response__task_id",
            "worker_id",
            "response__status",
            f"response__{column}",
            "flags",
            "codes",
        )

    return read


def _compare(campaign: Campaign, answers: Iterable[Answer]) -> set[int]:
    """Make the flags anew that compare the answers to each task; the keys of the workers of whom
    a code changed. What was discarded is compared, but not compared with."""
    counting: defaultdict[int, list[Answer]] = defaultdict(list)
    discarded = []
    for answer in answers:
        if answer.status == ResponseStatus.SUBMITTED:
            counting[answer.task].append(answer)
        else:
            discarded.append(answer)
    changed = set()
    for group in counting.values():
        for answer, flags in zip(group, _comparing(campaign, group), strict=True):
            changed |= _replace(answer, flags)
    for answer in discarded:
        *_, flags = _comparing(campaign, [*counting[answer.task], answer])
        changed |= _replace(answer, flags)
    return changed


def _comparing(campaign: Campaign, answers: Sequence[Answer]) -> list[list[Flag]]:
    """The flags that compare the answers to one task, for each of them."""
    kind = KINDS[campaign.kind]
    agreements = kind.agreements({answer.pk: answer.content for answer in answers})
    means = [agreements.get(answer.pk, 0.0) for answer in answers]
    texts = [answer.content for answer in answers] if kind.is_text else []
    return image_flags(means, texts, campaign.config)


def _replace(answer: Answer, flags: Sequence[Flag]) -> set[int]:
    """Put the flags in place of those that compared the answer before; the worker if their codes
    are others."""
    if not (answer.flags or flags):
        return set()
    lasting = [Flag.from_json(flag) for flag in answer.flags if flag["code"] not in IMAGE_CODES]
    columns = _columns([*lasting, *flags])
    if columns["flags"] == answer.flags:
        return set()
    Assessment.objects.filter(pk=answer.pk).update(**columns)
    return {answer.worker} if columns["codes"] != answer.codes else set()
