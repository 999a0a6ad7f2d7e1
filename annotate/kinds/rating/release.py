"""Freeze a release of ratings: each caption with its ratings, and the scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from annotate.exports.files import describe
from annotate.exports.records import create_in_chunks, save_images
from annotate.exports.stored import rows_of
from annotate.kinds.base import Candidate, Drawn
from annotate.kinds.freezing import save_answers
from annotate.kinds.rating import writing
from annotate.kinds.rating.answers import NAMES, questions_in
from annotate.kinds.rating.rules import rules_of
from annotate.kinds.rating.scores import Rated, alpha, differences, rounded, source_scores
from annotate.kinds.rating.sources import captions_of
from annotate.models import Release, ReleasedFile


def freeze(release: Release, drawn: Iterable[Drawn], numbers: Mapping[int, int]) -> None:
    """Save the release's items, its scores and its files."""
    # In the order of submission, because the order of the draw has no meaning here.
    drawn = [Drawn(task, sorted(responses)) for task, responses in drawn]
    captions = [list(_rated(each, numbers)) for each in drawn]
    every = list(chain.from_iterable(captions))
    images = save_images(release, [task for task, _ in drawn], map(_shown, captions))
    save_answers(images, drawn, numbers)
    release.figures = _figures(release, every)
    release.save(update_fields=["figures"])
    keys = {task.number: task.image.key for task, _ in drawn}
    create_in_chunks(ReleasedFile, _files(release, every, keys))


def _rated(drawn: Drawn, numbers: Mapping[int, int]) -> Iterator[Rated]:
    """The captions of a task with their ratings."""
    for number, caption in enumerate(captions_of(drawn.task), start=1):
        yield Rated(
            image=drawn.task.number,
            number=number,
            text=caption["text"],
            sources=caption["sources"],
            ratings=_ratings(drawn.responses, str(number), numbers),
        )


def _ratings(
    responses: Sequence[Candidate], caption: str, numbers: Mapping[int, int]
) -> dict[int, Mapping[str, int]]:
    return {
        numbers[response.worker_id]: response.answer[caption]
        for response in responses
        if caption in response.answer
    }


def _shown(captions: Sequence[Rated]) -> dict[str, Any]:
    """The captions of an image for the release's page."""
    return {
        "captions": [
            {"text": each.text, "sources": sorted(each.sources), "scores": each.scores()}
            for each in captions
        ]
    }


def _figures(release: Release, captions: Sequence[Rated]) -> dict[str, Any]:
    """Agreement, scores and differences of the whole release."""
    sources = [source.name for source in rules_of(release.campaign.config).sources]
    alphas = {name: alpha(captions, name) for name in NAMES}
    scores = source_scores(captions, sources, release.seed)
    apart = differences(captions, sources, release.seed)
    return {
        "alpha": {k: None if v is None else round(v, writing.DIGITS) for k, v in alphas.items()},
        "sources": [
            {
                "name": source,
                "captions": sum(source in caption.sources for caption in captions),
                "scores": {name: rounded(score) for name, score in scores[source].items()},
            }
            for source in sources
        ],
        "differences": [
            {
                "source": one,
                "minus": other,
                "scores": {name: rounded(score) for name, score in found.items()},
            }
            for (one, other), found in apart.items()
        ],
    }


def _files(
    release: Release, captions: Sequence[Rated], keys: Mapping[int, str]
) -> Iterator[ReleasedFile]:
    """The rows of all files, file by file."""
    info, figures = describe(release, f"ratings of {len(captions)} captions"), release.figures
    questions = questions_in(release.language)
    ratings = writing.ratings_json(info, questions, figures, captions, keys)
    yield from rows_of(release, "ratings.json", ratings)
    yield from rows_of(release, "ratings.csv", writing.ratings_csv(captions, keys))
    yield from rows_of(release, "scores.csv", writing.scores_csv(captions, keys))
    yield from rows_of(release, "sources.csv", writing.sources_csv(figures))
