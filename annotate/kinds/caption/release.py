"""Copies the drawn captions into a release."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any

from django.db import connection

from annotate.campaign_file import CampaignConfig
from annotate.exports.records import ImageRecords
from annotate.kinds.caption import rate_first
from annotate.kinds.freezing import Candidate, Drawn
from annotate.models import Caption, Release, ReleasedCaption, Role, Task
from corpora.writing import dump
from shared.database.transactions import BATCH, batches

COLUMNS = (
    "image",
    "response",
    "worker_number",
    "role",
    "text",
    "remark",
    "ratings",
    "language",
    "seconds",
    "primed",
    "import_number",
)
# Images that are saved at once, with all their captions.
IMAGES_AT_ONCE = 500
# What was drawn for an image, in one or several languages.
_Image = Sequence[Drawn]


def freeze(
    release: Release,
    drawn: Iterable[Drawn],
    numbers: Mapping[int, int],
    more: Callable[[Task], dict[str, Any]] = lambda _: {},
) -> None:
    """Save the images, and image by image the captions of each language; `more` returns
    further keys of an image's record.

    Hidden captions come last. If there are any, what is drawn is read once more for them, instead
    of being held in memory.
    """
    records = ImageRecords(
        release, (task for images in _images(drawn) for task in _tasks(release, images))
    )
    hidden: dict[int, int] = {}
    for images in _images(drawn):
        tasks = _tasks(release, images)
        further = [_context_of(task) | more(task) for task in tasks]
        saved = records.save(tasks, further, keywords_shown=map(_shown, images))
        public = {image.number: image.pk for image in saved if not image.is_hidden}
        hidden |= {image.number: image.pk for image in saved if image.is_hidden}
        _insert(_rows(release, images, public, numbers))
    if hidden:
        for images in _images(drawn):
            _insert(_rows(release, images, hidden, numbers))


def _images(drawn: Iterable[Drawn]) -> Iterator[list[_Image]]:
    return batches((list(group) for _, group in groupby(drawn, key=_number)), IMAGES_AT_ONCE)


def _shown(image: _Image) -> bool | None:
    """Whether the workers of all the captions saw the keywords; None if that differs or if nobody
    knows."""
    said = {response.is_primed(task) for task, responses in image for response in responses}
    return said.pop() if len(said) == 1 else None


def _context_of(task: Task) -> dict[str, str]:
    """The image's context as the workers saw it, if they saw one."""
    context = (task.payload or {}).get("context")
    return {"context": context} if context else {}


def _number(drawn: Drawn) -> int:
    return drawn.task.number


def _tasks(release: Release, images: Sequence[_Image]) -> list[Task]:
    """The tasks of the release's own campaign for these images."""
    if not release.languages:
        return [drawn.task for (drawn,) in images]
    # An image may be complete in another language only.
    numbers = [_number(image[0]) for image in images]
    tasks = release.campaign.tasks.with_material().filter(number__in=numbers)
    return list(tasks.order_by("number"))


def _rows(
    release: Release,
    images: Iterable[_Image],
    keys: Mapping[int, int],
    numbers: Mapping[int, int],
) -> Iterator[tuple[Any, ...]]:
    """The rows of the captions of those images that are in `keys`, their keys by their numbers."""
    remarks, ratings = _remarks(images := list(images)), _ratings(images)
    for task, responses in chain.from_iterable(images):
        if task.number not in keys:
            continue
        config = task.campaign.config
        language = config.language if release.languages else ""
        for response, role in _roles(responses, config):
            yield (
                keys[task.number],
                response.pk,
                numbers[response.worker_id],
                role.value,
                response.cannot_describe or response.answer,
                remarks.get(response.pk, ""),
                ratings.get(response.pk),
                language,
                response.seconds,
                response.is_primed(task),
                response.import_number,
            )


def _insert(rows: Iterator[tuple[Any, ...]]) -> None:
    """Insert rows of the values of COLUMNS. Objects of the model would take most of the time."""
    fields: list[Any] = [ReleasedCaption._meta.get_field(name) for name in COLUMNS]
    columns = ", ".join(field.column for field in fields)
    row = f"({', '.join(['%s'] * len(COLUMNS))})"
    most = connection.features.max_query_params
    size = min(BATCH, most // len(COLUMNS)) if most else BATCH
    with connection.cursor() as cursor:
        for part in batches(rows, size):
            places = ", ".join([row] * len(part))
            sql = f"INSERT INTO {ReleasedCaption._meta.db_table} ({columns}) VALUES {places}"
            cursor.execute(sql, [*chain.from_iterable(part)])


def _remarks(images: Sequence[_Image]) -> dict[int, str]:
    """The remarks with the responses, by the response."""
    keys = [
        response.pk
        for task, responses in chain.from_iterable(images)
        if task.campaign.config.captions.remarks
        for response in responses
    ]
    rows = Caption.objects.filter(pk__in=keys).exclude(remark="")
    return dict(rows.values_list("pk", "remark")) if keys else {}


def _ratings(images: Sequence[_Image]) -> dict[int, str]:
    """The given captions that each response rates, as JSON, by the response."""
    tasks = {
        response.pk: drawn.task
        for drawn in chain.from_iterable(images)
        if rate_first.given_captions(drawn.task)
        for response in drawn.responses
    }
    rows = Caption.objects.filter(pk__in=tasks, ratings__isnull=False) if tasks else ()
    return {row.pk: dump([*rate_first.rated(tasks[row.pk], row.ratings)]) for row in rows}


def _roles(
    responses: Sequence[Candidate], config: CampaignConfig
) -> Iterator[tuple[Candidate, Role]]:
    """The role of each response in the release."""
    reasons = [response for response in responses if response.cannot_describe]
    captions = [response for response in responses if not response.cannot_describe]
    for response in sorted(captions[config.baselines :], key=lambda response: response.pk):
        yield response, Role.REFERENCE
    for response in captions[: config.baselines]:
        yield response, Role.BASELINE
    for response in sorted(reasons, key=lambda response: response.pk):
        yield response, Role.REASON
