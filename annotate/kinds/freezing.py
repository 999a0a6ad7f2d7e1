"""What a release draws, and what the releases of several task types save alike."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from annotate.campaign_file import CampaignConfig
from annotate.exports.records import create_in_chunks, save_images
from annotate.models import Release, ReleasedAnswer, ReleasedImage, Task


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


class Part(NamedTuple):
    """A campaign of a release of several languages, with what was drawn from it."""

    config: CampaignConfig
    drawn: Iterable[Drawn]


def as_submitted(drawn: Iterable[Drawn]) -> list[Drawn]:
    """What was drawn in the order of submission, for task types for which that of the draw has no
    meaning."""
    return [Drawn(task, sorted(responses, key=lambda each: each.pk)) for task, responses in drawn]


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
    create_in_chunks(ReleasedAnswer, answers)
    return items


def save_figures(release: Release, figures: dict[str, Any]) -> None:
    """Save the statistics of the whole release."""
    release.figures = figures
    release.save(update_fields=["figures"])
