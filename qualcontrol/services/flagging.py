"""Stored flags of responses. A response gets its lasting flags when it is submitted. Flags that
compare it with other answers of its image are computed again when another answer arrives. Earlier
captions, to find copies, are looked up in the database (`FiledCaptions`)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial, reduce
from itertools import chain
from operator import itemgetter, or_
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Count, Max, Q, QuerySet

from annotate.kinds import KINDS
from annotate.models import Behaviour, Campaign, Response, ResponseStatus, Task
from annotate.queries.keywords import task_keywords
from annotate.services.responses import lock_tasks
from qualcontrol.flags import Conduct, Flag, Neighbour, codes, image_flags, lasting_flags
from qualcontrol.flags.copies import KEY_HOLDS, LATEST, Found, keys_of, most_shared
from qualcontrol.flags.image import CODES as IMAGE_CODES
from qualcontrol.flags.image import Shares, undescribing_flags
from qualcontrol.models import Assessment, Copying, CopyKey
from shared.database.transactions import batches

# The most keys in one query, and the most rows in one insert.
READ_AT_ONCE, WRITTEN_AT_ONCE = 1_000, 5_000
# Workers whose latest answers one query reads.
WORKERS_AT_ONCE = 100


class FiledCaptions:
    """An implementation of `qualcontrol.flags.Neighbours` for one transaction.

    `texts` are all captions that will be looked up. The first look-up reads everything that is
    filed under their keys, and `write` stores what was filed, so that an import of thousands takes
    few queries.
    """

    def __init__(self, campaign: Campaign, texts: Iterable[str]) -> None:
        self._campaign = campaign
        self._kind = KINDS[campaign.kind]
        self._latest: dict[int, list[Neighbour]] = {}
        self._places: dict[int, int] = {}
        self._filed: defaultdict[int, list[Neighbour]] = defaultdict(list)
        self._unwritten: list[CopyKey] = []
        keys = sorted({key for text in texts for key in self.own(keys_of(text))})
        for some in batches(keys, READ_AT_ONCE):
            self._read_keys(some)

    def own(self, keys: Iterable[int]) -> list[int]:
        """The campaign's own keys, from keys of 32 bits: a campaign finds its own captions only."""
        return [self._campaign.pk << 32 | key for key in keys]

    def take_place(self, worker: int) -> int:
        """Take the next position in the worker's work, counted from 1."""
        self._read(worker)
        self._places[worker] += 1
        return self._places[worker]

    def look_up(self, keys: Sequence[int]) -> Found:
        filed = {key: self._filed[key] for key in self.own(keys)}
        shared = Counter(chain.from_iterable(filed.values()))
        return Found(
            most_shared(shared), [key for key, held in filed.items() if len(held) < KEY_HOLDS]
        )

    def latest_of(self, worker: int) -> list[Neighbour]:
        self._read(worker)
        return self._latest[worker][-LATEST:]

    def whole(self, caption: Neighbour) -> Neighbour:
        made = Response.objects.values_list("submitted_at", "behaviour__device")
        at, device = made.get(pk=caption.key)
        return caption._replace(at=at, device=device or "")

    def copies_of(self, worker: int, other: int) -> int:
        copies = Copying.objects.filter(
            response__worker=worker,
            original__worker=other,
            original__campaign=self._campaign,
        )
        return copies.count()

    def file(self, caption: Neighbour, keys: Sequence[int]) -> None:
        self._latest[caption.worker].append(caption)
        found_as = Neighbour(caption.key, caption.worker, caption.text)
        for key in keys:
            self._filed[key].append(found_as)
            self._unwritten.append(CopyKey(key=key, response_id=caption.key))

    def write(self) -> None:
        """Store what was filed."""
        CopyKey.objects.bulk_create(
            self._unwritten, ignore_conflicts=True, batch_size=WRITTEN_AT_ONCE
        )
        self._unwritten.clear()

    def note_copy(self, caption: Neighbour, original: Neighbour, similarity: float) -> None:
        Copying.objects.create(
            response_id=caption.key, original_id=original.key, similarity=similarity
        )

    def _read_keys(self, keys: Sequence[int]) -> None:
        filed = CopyKey.objects.filter(key__in=keys)
        columns = ("key", "response_id", "response__worker_id")
        rows = self._kind.with_answers(filed, *columns, response="response__")
        for key, response, worker, answer in rows:
            text = self._kind.text(answer) or ""
            self._filed[key].append(Neighbour(response, worker, text))

    def read_latest(self, workers: Collection[int]) -> None:
        """Read the latest answers of many workers in a few queries; later ones of these workers
        need none."""
        assessed = Assessment.objects.filter(campaign=self._campaign)
        counts = assessed.filter(worker__in=workers).values_list("worker").annotate(Max("position"))
        self._places |= dict.fromkeys(workers, 0) | dict(counts)
        self._latest |= {worker: [] for worker in workers}
        written = [worker for worker in workers if self._places[worker]]
        for of_some in batches(written, WORKERS_AT_ONCE):
            # Each part names the campaign, so that the database looks up each in the index.
            latest = [
                Q(campaign=self._campaign, worker=w, position__gt=self._places[w] - LATEST)
                for w in of_some
            ]
            self._note(Assessment.objects.filter(reduce(or_, latest)))

    def _read(self, worker: int) -> None:
        """The worker's latest answers and their total number, from one query."""
        if worker not in self._latest:
            self._places[worker], self._latest[worker] = 0, []
            assessed = Assessment.objects.filter(campaign=self._campaign, worker=worker)
            self._note(assessed.order_by("-position")[:LATEST])

    def _note(self, assessed: QuerySet[Assessment]) -> None:
        """Add these answers to their workers' latest ones, in the order of their positions."""
        columns = ("worker_id", "position", "response_id")
        rows = self._kind.with_answers(assessed, *columns, response="response__")
        for worker, place, key, answer in sorted(rows, key=itemgetter(0, 1)):
            self._places[worker] = place
            self._latest[worker].append(Neighbour(key, worker, self._kind.text(answer) or ""))


class Answer(NamedTuple):
    """The columns of an assessed response that a comparison needs."""

    pk: int
    task: int
    worker: int
    status: str
    flags: list[dict[str, Any]]
    codes: str
    cannot_describe: str
    answer: Any


# An assessed response, and its new columns.
Change = tuple[Answer, dict[str, Any]]


@transaction.atomic(savepoint=False)
def assess(
    *,
    campaign: Campaign,
    responses: Sequence[Response],
    known: Mapping[int, Sequence[Flag]] | None = None,
    compares: bool = True,
) -> set[int]:
    """Flag newly submitted responses, and compare the other answers of their images again. Returns
    the keys of the workers whose flags changed. `known` has lasting flags of some responses, by
    response. Without `compares`, the caller compares later, by `compare_answers`.

    A response that has an assessment keeps its lasting flags. The caller holds the locks of the
    workers, so that each response gets its own position in its worker's work, and those of the
    tasks, so that answers that arrive at the same time are compared with each other.
    """
    tasks = {response.task_id for response in responses}
    arrived = {response.pk for response in responses}
    assessed = (
        _answers(campaign, tasks)
        if compares
        else _read(campaign, Assessment.objects.filter(response__in=arrived))
    )
    assessed_before = {answer.pk for answer in assessed}
    arrived_now = [response for response in responses if response.pk not in assessed_before]
    new = _add(campaign, arrived_now, known or {})
    if not compares:
        return {answer.worker for answer in new}
    return {answer.worker for answer in new} | _compare(campaign, [*assessed, *new])


@transaction.atomic
def compare_answers(*, campaign: Campaign, tasks: Collection[int]) -> set[int]:
    """Compute the flags again that compare the answers to each of these tasks. Returns the keys of
    the workers whose flags changed."""
    lock_tasks(tasks)
    return _compare(campaign, _answers(campaign, tasks))


@transaction.atomic
def flag_again(*, campaign: Campaign) -> None:
    """Compute all flags of the campaign's responses again, by its file as it is now. The caller has
    locked the campaign, so that no response arrives meanwhile."""
    assessed = Assessment.objects.filter(campaign=campaign)
    keys = list(assessed.order_by("pk").values_list("pk", flat=True))
    tasks = sorted(set(assessed.values_list("response__task", flat=True)))
    lock_tasks(tasks)
    # A copy is looked for among earlier captions, so none may be filed at first.
    for stored in (Assessment, CopyKey, Copying):
        stored._default_manager.filter(response__campaign=campaign).delete()
    answer = KINDS[campaign.kind].answer_field.partition("__")[0]
    responses = Response.objects.select_related("task__image", answer).order_by("pk")
    for batch in batches(keys):
        _add(campaign, list(responses.filter(pk__in=batch)), {})
    for some in batches(tasks):
        _compare(campaign, _answers(campaign, some))


def flags_if_written(*, task: Task, text: str) -> list[dict[str, Any]]:
    """The flags that a text would have as the first caption of a new worker. Writes nothing."""
    campaign = task.campaign
    kind = KINDS[campaign.kind]
    newcomer = Response(
        pk=0, task=task, worker_id=0, status=ResponseStatus.SUBMITTED, primed=task.primed
    )
    lasting = lasting_flags(
        Neighbour(key=0, worker=0, text=text),
        campaign.config,
        _Unchanged(campaign, [text]),
        keywords=partial(_shown_keywords, newcomer),
        examples=kind.good_examples(campaign.config),
        given=kind.given_texts(task),
    )
    others = [a for a in _answers(campaign, [task.pk]) if a.status == ResponseStatus.SUBMITTED]
    answer = Answer(0, task.pk, 0, ResponseStatus.SUBMITTED, [], "", "", kind.from_text(text))
    *_, comparing = _comparing(campaign, [*others, answer])
    flags: list[dict[str, Any]] = _columns([*lasting, *comparing])["flags"]
    return flags


class _Unchanged(FiledCaptions):
    """Look-ups without filing: the stored captions stay as they are."""

    def file(self, caption: Neighbour, keys: Sequence[int]) -> None:
        pass

    def note_copy(self, caption: Neighbour, original: Neighbour, similarity: float) -> None:
        pass


def _add(
    campaign: Campaign, responses: Sequence[Response], known: Mapping[int, Sequence[Flag]]
) -> list[Answer]:
    """Create the responses' assessments with their lasting flags."""
    kind = KINDS[campaign.kind]
    given = [kind.answer(response) for response in responses]
    filed = FiledCaptions(campaign, (kind.text(answer) or "" for answer in given))
    workers = {response.worker_id for response in responses}
    if len(workers) > 1:
        filed.read_latest(workers)
    behaviours = Behaviour.objects.in_bulk([response.pk for response in responses])
    answers, assessments = [], []
    for response, answer in zip(responses, given, strict=True):
        place = filed.take_place(response.worker_id)
        conduct = _conduct(response, behaviours.get(response.pk))
        lasting = _lasting(campaign, response, answer, conduct, filed)
        flags = _columns([*lasting, *known.get(response.pk, ())])
        assessments.append(
            Assessment(
                response_id=response.pk,
                campaign=campaign,
                worker_id=response.worker_id,
                position=place,
                **flags,
            )
        )
        answers.append(
            Answer(
                response.pk,
                response.task_id,
                response.worker_id,
                response.status,
                **flags,
                cannot_describe=response.cannot_describe,
                answer=answer,
            )
        )
    Assessment.objects.bulk_create(assessments)
    filed.write()
    return answers


def _lasting(
    campaign: Campaign, response: Response, answer: Any, conduct: Conduct, filed: FiledCaptions
) -> list[Flag]:
    kind = KINDS[campaign.kind]
    written = Neighbour(
        key=response.pk,
        worker=response.worker_id,
        text=kind.text(answer) or "",
        at=response.submitted_at,
        device=conduct.device,
    )
    flags = lasting_flags(
        written,
        campaign.config,
        filed,
        conduct=conduct,
        keywords=partial(_shown_keywords, response),
        is_part=kind.is_part(answer),
        examples=kind.good_examples(campaign.config),
        # The author of an imported text saw no page of this site.
        given=() if response.imported_from_id else kind.given_texts(response.task),
    )
    return [*flags, *(Flag(*sign) for sign in kind.signs(answer, campaign.config))]


def _conduct(response: Response, behaviour: Behaviour | None) -> Conduct:
    """The known facts about how the answer was written."""
    if behaviour is None:
        return Conduct(response.seconds)
    return Conduct(
        response.seconds,
        behaviour.characters,
        behaviour.seconds_writing,
        behaviour.times_left,
        behaviour.device,
    )


def _shown_keywords(response: Response) -> list[str]:
    return task_keywords(response.task) if response.is_primed else []


def _columns(flags: Iterable[Flag]) -> dict[str, Any]:
    flags = sorted(flags, key=lambda flag: flag.code)
    return {"flags": [flag.as_json() for flag in flags], "codes": " ".join(codes(flags))}


def _answers(campaign: Campaign, tasks: Collection[int]) -> list[Answer]:
    """The assessed answers to the tasks, in the order of their keys. All callers update assessments
    in this order, so that they do not deadlock."""
    return _read(campaign, Assessment.objects.filter(response__task__in=tasks))


def _read(campaign: Campaign, assessments: QuerySet[Assessment]) -> list[Answer]:
    assessed = assessments.order_by("pk")
    columns = (
        "pk",
        "response__task_id",
        "worker_id",
        "response__status",
        "flags",
        "codes",
        "response__cannot_describe",
    )
    rows = KINDS[campaign.kind].with_answers(assessed, *columns, response="response__")
    return [Answer(*row) for row in rows]


def _compare(campaign: Campaign, answers: Iterable[Answer]) -> set[int]:
    """Compute the flags that compare the answers to each task. Returns the keys of the workers with
    a changed code. Discarded answers get these flags, too, but others are not compared with them.
    """
    counting: defaultdict[int, list[Answer]] = defaultdict(list)
    discarded = []
    for answer in answers:
        if answer.status == ResponseStatus.SUBMITTED:
            counting[answer.task].append(answer)
        else:
            discarded.append(answer)
    changes: list[Change | None] = []
    for group in counting.values():
        changes += map(_change, group, _comparing(campaign, group))
    for answer in discarded:
        *_, flags = _comparing(campaign, [*counting[answer.task], answer])
        changes.append(_change(answer, flags))
    changed = [change for change in changes if change is not None]
    _save(changed)
    return {answer.worker for answer, columns in changed if columns["codes"] != answer.codes}


def _comparing(campaign: Campaign, answers: Sequence[Answer]) -> list[list[Flag]]:
    """The flags that compare the answers to one task, for each answer. Those that do not describe
    the image are compared by how often their workers say so."""
    if any(answer.cannot_describe for answer in answers):
        described = [answer for answer in answers if not answer.cannot_describe]
        of_described = iter(_comparing(campaign, described))
        return [
            _undescribing(campaign, answer.worker) if answer.cannot_describe else next(of_described)
            for answer in answers
        ]
    kind = KINDS[campaign.kind]
    agreements = kind.agreements({answer.pk: answer.answer for answer in answers}, campaign.config)
    means = [agreements.get(answer.pk, 0.0) for answer in answers]
    # Those who add to one text name different things.
    given = [answer.answer for answer in answers]
    texts = [None if kind.is_part(answer) else kind.text(answer) for answer in given]
    return image_flags(means, texts, campaign.config)


def _undescribing(campaign: Campaign, worker: int) -> list[Flag]:
    """The flag of an answer that does not describe its image: how often its worker says so,
    compared with the others who had the same images."""
    answers, reasons = Count("pk"), Count("pk", filter=~Q(cannot_describe=""))
    own = Response.objects.of(campaign).filter(worker=worker)
    others = Response.objects.of(campaign).counting().exclude(worker=worker)
    others = others.filter(task__in=own.values("task"))
    return undescribing_flags(
        *(Shares(**rows.aggregate(answers=answers, reasons=reasons)) for rows in (own, others))
    )


def _change(answer: Answer, flags: Sequence[Flag]) -> Change | None:
    """The answer's columns with new comparing flags; None if nothing changes."""
    if not (answer.flags or flags):
        return None
    lasting = [Flag.from_json(flag) for flag in answer.flags if flag["code"] not in IMAGE_CODES]
    columns = _columns([*lasting, *flags])
    return None if columns["flags"] == answer.flags else (answer, columns)


def _save(changed: Sequence[Change]) -> None:
    """Update the columns with `executemany`. Django's `bulk_update` takes several times as long,
    and an import changes about as many rows as it creates."""
    stored = Assessment._meta.get_field("flags").get_db_prep_save
    rows = [
        (stored(columns["flags"], connection), columns["codes"], answer.pk)
        for answer, columns in changed
    ]
    if rows:
        table = Assessment._meta.db_table
        with connection.cursor() as cursor:
            cursor.executemany(
                f"UPDATE {table} SET flags = %s, codes = %s WHERE response_id = %s", rows
            )
