"""What the releases of several task types save alike."""

from collections.abc import Iterator, Mapping, Sequence

from annotate.exports.records import create_in_chunks
from annotate.kinds.base import Drawn
from annotate.models import ReleasedAnswer, ReleasedImage


def save_answers(
    images: Sequence[ReleasedImage], drawn: Sequence[Drawn], numbers: Mapping[int, int]
) -> None:
    """Save who gave each drawn answer, by the worker's number in the release, and in how many
    seconds. `images` are those of `drawn`, in its order."""
    create_in_chunks(ReleasedAnswer, _rows(images, drawn, numbers))


def _rows(
    images: Sequence[ReleasedImage], drawn: Sequence[Drawn], numbers: Mapping[int, int]
) -> Iterator[ReleasedAnswer]:
    for image, (_, responses) in zip(images, drawn, strict=True):
        for response in responses:
            yield ReleasedAnswer(
                image=image,
                response_id=response.pk,
                worker_number=numbers[response.worker_id],
                seconds=response.seconds,
            )
