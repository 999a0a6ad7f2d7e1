"""Copies the drawn captions into a release."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import chain, groupby, repeat
from typing import Any

from annotate.exports.records import ImageRecords, chunks, insert_rows
from annotate.kinds.base import Candidate, Drawn, Part
from annotate.models import Release, ReleasedCaption, Role, Task

COLUMNS = (
    "image",
    "response",
    "worker_number",
    "role",
    "text",
    "language",
    "seconds",
    "primed",
    "import_number",
)
# Images that are saved at once, with all their captions.
IMAGES_AT_ONCE = 500
# What was drawn for an image, in one or several languages.
_Image = Sequence[tuple[Part, Drawn]]


def freeze(release: Release, parts: Sequence[Part], numbers: Mapping[int, int]) -> None:
    """Save the images, and image by image the captions of each part's language.

    Hidden captions come last. If there are any, what is drawn is read once more for them, instead
    of being held in memory.
    """
    tasks = (task for images in _images(parts) for task in _tasks(release, images))
    records = ImageRecords(release, tasks)
    hidden: dict[int, int] = {}
    for images in _images(parts):
        saved = records.save(_tasks(release, images), keywords_shown=map(_shown, images))
        public = {image.number: image.pk for image in saved if not image.is_hidden}
        hidden |= {image.number: image.pk for image in saved if image.is_hidden}
        insert_rows(ReleasedCaption, COLUMNS, _rows(release, images, public, numbers))
    if hidden:
        for images in _images(parts):
            insert_rows(ReleasedCaption, COLUMNS, _rows(release, images, hidden, numbers))


def _images(parts: Sequence[Part]) -> Iterator[list[_Image]]:
    """What is drawn of all parts, by the number of the image, and then in the order of the parts.

    The campaigns of a family have the same images under the same numbers.
    """
    merged = merge(*(zip(repeat(part), part.drawn) for part in parts), key=_number)
    return chunks((list(group) for _, group in groupby(merged, key=_number)), IMAGES_AT_ONCE)


def _shown(image: _Image) -> bool | None:
    """Whether the workers of all the captions saw the keywords; None if that differs or if nobody
    knows."""
    said = {each.is_primed(task) for _, (task, responses) in image for each in responses}
    return said.pop() if len(said) == 1 else None


def _number(drawn: tuple[Part, Drawn]) -> int:
    return drawn[1].task.number


def _tasks(release: Release, images: Sequence[_Image]) -> list[Task]:
    """The tasks of the release's own campaign for these images."""
    if not release.languages:
        return [drawn.task for ((_, drawn),) in images]
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
    for part, (task, responses) in chain.from_iterable(images):
        if task.number not in keys:
            continue
        language = part.config.language if release.languages else ""
        for response, role in _roles(responses, part.config.baselines):
            yield (
                keys[task.number],
                response.pk,
                numbers[response.worker_id],
                role.value,
                response.answer,
                language,
                response.seconds,
                response.is_primed(task),
                response.import_number,
            )


def _roles(responses: Sequence[Candidate], baselines: int) -> Iterator[tuple[Candidate, Role]]:
    for response in sorted(responses[baselines:], key=lambda response: response.pk):
        yield response, Role.REFERENCE
    for response in responses[:baselines]:
        yield response, Role.BASELINE
