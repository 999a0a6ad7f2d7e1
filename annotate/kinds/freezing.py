"""The draw of a release, and the code that the releases of several task types share."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotate.characters import Characters
from annotate.exports.records import save_images
from annotate.models import Campaign, Release, ReleasedAnswer, ReleasedImage, Response, Task
from shared.database.transactions import create_in_batches

# Lookups from a response to what the draw needs to know of it: the first fields of a CountingRow.
DRAWN_BY = ("task__number", "task__wanted", "cannot_describe")

WithAnswers = Callable[..., QuerySet[Any, Any]]


class CountingRow(NamedTuple):
    """A response that counts, as the draw reads it."""

    number: int  # of its task
    wanted: int  # by its task
    reason: str  # why the image cannot be described; empty if the worker does not say so
    values: Sequence[Any]  # of the columns that the caller needs


class Candidate(NamedTuple):
    """A response that a release may draw.

    There may be a hundred thousand of them, so it has only the fields that the draw and `freeze`
    need.
    """

    pk: int
    worker_id: int
    seconds: int | None
    primed: bool | None
    cannot_describe: str
    # The place of the file that it was imported from in the release's `imports`, from 1.
    import_number: int | None
    answer: Any

    def is_primed(self, task: Task) -> bool | None:
        """Whether the worker saw the keywords; None if nobody knows."""
        return task.is_primed(self.primed, is_imported=self.import_number is not None)


class Drawn(NamedTuple):
    """A task of a release with the responses drawn for it, in the order of the draw."""

    task: Task
    responses: list[Candidate]


class Draw:
    """The responses drawn for each complete task of the campaigns, which have the same images, by
    the number of the image, and then in the order of the campaigns.

    It can be read several times in the transaction of a release, and is the same each time. So
    nobody has to hold all answers of a campaign in memory. `with_answers` is that of the task type.
    """

    def __init__(self, campaigns: Sequence[Campaign], seed: int, with_answers: WithAnswers) -> None:
        self.campaigns, self.seed, self.with_answers = campaigns, seed, with_answers
        # The numbers in the release of the files that responses were imported from.
        self.imports: dict[int | None, int] = {}

    def __iter__(self) -> Iterator[Drawn]:
        return merge(*map(self._of, self.campaigns), key=lambda drawn: drawn.task.number)

    def _of(self, campaign: Campaign) -> Iterator[Drawn]:
        columns = ("pk", "worker_id", "seconds", "primed", "imported_from_id")
        rows = self.with_answers(_counting(campaign), *DRAWN_BY, *columns)
        tasks = campaign.tasks.with_material().order_by("number").iterator()
        for number, drawn in self._sampled(campaign, rows):
            # Both are in the order of the numbers, so this goes on from the last task.
            task = next(task for task in tasks if task.number == number)
            task.campaign = campaign
            yield Drawn(task, [self._candidate(row) for row in drawn])

    def _candidate(self, row: CountingRow) -> Candidate:
        pk, worker, seconds, primed, file, answer = row.values
        return Candidate(
            pk=pk,
            worker_id=worker,
            seconds=seconds,
            primed=primed,
            cannot_describe=row.reason,
            import_number=self.imports.get(file),
            answer=answer,
        )

    def origins(self) -> Iterator[tuple[int, int | None]]:
        """The worker of each drawn response, and the file that it was imported from, if any."""
        for row in self._rows("worker_id", "imported_from_id"):
            worker, file = row.values
            yield worker, file

    def characters(self) -> Iterator[Characters]:
        """The characters of each drawn text by the way in which they came. A reason is not a
        text."""
        for row in self._rows("behaviour__characters"):
            if not row.reason:
                (characters,) = row.values
                yield characters

    def _rows(self, *columns: str) -> Iterator[CountingRow]:
        """Each drawn response with these columns."""
        for campaign in self.campaigns:
            rows = _counting(campaign).values_list(*DRAWN_BY, *columns)
            for _, drawn in self._sampled(campaign, rows):
                yield from drawn

    def _sampled(
        self, campaign: Campaign, rows: QuerySet[Any, Any]
    ) -> Iterator[tuple[int, list[CountingRow]]]:
        """The number of each complete task of the campaign, with the responses drawn for it. `rows`
        are those that count, with values of DRAWN_BY and then of further columns."""
        rng = random.Random(self.seed)
        quorum = campaign.config.captions.cannot_describe_quorum
        named = (
            CountingRow(number, wanted, reason, values)
            for number, wanted, reason, *values in rows.iterator()
        )
        for (number, wanted), of_task in groupby(named, key=attrgetter("number", "wanted")):
            responses = list(of_task)
            if len(responses) >= wanted:
                yield number, draw(responses, wanted, quorum, rng)


def _counting(campaign: Campaign) -> QuerySet[Response]:
    # By the campaign of the task, so that SQLite reads the tasks in their order, with the responses
    # of each, instead of sorting all responses.
    responses = Response.objects.filter(task__campaign=campaign).counting()
    return responses.order_by("task__number", "pk")


def draw(
    rows: Sequence[CountingRow], wanted: int, quorum: int, rng: random.Random
) -> list[CountingRow]:
    """As many of one task's responses as wanted; if as many of these as the quorum say that the
    image cannot be described, only those that do.

    The positions that are drawn depend on the number of responses alone.
    """
    drawn = rng.sample(rows, wanted)
    reasons = [row for row in drawn if row.reason]
    return reasons if len(reasons) >= quorum else drawn


def as_submitted(drawn: Iterable[Drawn]) -> list[Drawn]:
    """The drawn responses in the order of submission, for task types in which the order of the draw
    has no meaning."""
    return [
        Drawn(task, sorted(responses, key=lambda response: response.pk))
        for task, responses in drawn
    ]


def save_items(
    release: Release,
    drawn: Sequence[Drawn],
    numbers: Mapping[int, int],
    records: Iterable[dict[str, Any]],
) -> list[ReleasedImage]:
    """Save the release's items, and who gave each drawn answer in how many seconds.

    `numbers` are the workers' numbers in the release; `records` have further keys of each item's
    record.
    """
    items = save_images(release, [task for task, _ in drawn], records)
    answers = (
        ReleasedAnswer(
            image=item,
            response_id=response.pk,
            worker_number=numbers[response.worker_id],
            seconds=response.seconds,
        )
        for item, (_, responses) in zip(items, drawn, strict=True)
        for response in responses
    )
    create_in_batches(ReleasedAnswer, answers)
    return items


def save_figures(release: Release, figures: dict[str, Any]) -> None:
    """Save the statistics of the whole release."""
    release.figures = figures
    release.save(update_fields=["figures"])
