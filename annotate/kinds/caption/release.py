"""Copies the drawn captions into a release."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import repeat
from typing import Any, NamedTuple

from annotate.exports.records import insert_rows, saved_in_chunks
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
)


class _Place(NamedTuple):
    """Where an image is in the release."""

    image: int
    is_hidden: bool


def freeze(release: Release, parts: Sequence[Part], numbers: Mapping[int, int]) -> None:
    """Save the images, and image by image the captions of each part's language.

    Neither the images nor the captions are held in memory: they are read once for each of the
    rounds.
    """
    saved = saved_in_chunks(release, _Tasks(release, parts))
    places = {image.number: _Place(image.pk, image.is_hidden) for chunk in saved for image in chunk}
    # The public captions first.
    for is_hidden in sorted({place.is_hidden for place in places.values()}):
        insert_rows(
            ReleasedCaption,
            COLUMNS,
            (
                row
                for part, drawn in _by_number(parts)
                if places[drawn.task.number].is_hidden == is_hidden
                for row in _rows(release, part, drawn, places[drawn.task.number].image, numbers)
            ),
        )


class _Tasks(Iterable[Task]):
    """The release's tasks, which are those of its own campaign, each time read again."""

    def __init__(self, release: Release, parts: Sequence[Part]) -> None:
        self.release, self.parts = release, parts

    def __iter__(self) -> Iterator[Task]:
        if len(self.parts) == 1:
            yield from (task for task, _ in self.parts[0].drawn)
            return
        # An image may be complete in another language only.
        numbers = {drawn.task.number for _, drawn in _by_number(self.parts)}
        tasks = self.release.campaign.tasks.with_material().order_by("number")
        yield from (task for task in tasks.iterator() if task.number in numbers)


def _by_number(parts: Sequence[Part]) -> Iterator[tuple[Part, Drawn]]:
    """What is drawn of all parts, by the number of the image, and then in the order of the parts.

    The campaigns of a family have the same images under the same numbers.
    """
    pairs = (zip(repeat(part), part.drawn) for part in parts)
    return merge(*pairs, key=lambda pair: pair[1].task.number)


def _rows(
    release: Release, part: Part, drawn: Drawn, image: int, numbers: Mapping[int, int]
) -> Iterator[tuple[Any, ...]]:
    task, responses = drawn
    language = part.config.language if release.languages else ""
    for response, role in _roles(responses, part.config.baselines):
        yield (
            image,
            response.pk,
            numbers[response.worker_id],
            role.value,
            response.answer,
            language,
            response.seconds,
            task.is_primed(response.primed),
        )


def _roles(responses: Sequence[Candidate], baselines: int) -> Iterator[tuple[Candidate, Role]]:
    for response in sorted(responses[baselines:], key=lambda response: response.pk):
        yield response, Role.REFERENCE
    for response in responses[:baselines]:
        yield response, Role.BASELINE
