"""Freeze a release of ratings: each caption with its ratings, and the scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from annotate.exports.files import describe, rows_of
from annotate.exports.records import create_in_chunks, save_images
from annotate.kinds.base import Candidate, Drawn
from annotate.kinds.freezing import save_answers
from annotate.kinds.rating.answers import NAMES, Question, questions_in, rules_of
from annotate.kinds.rating.scores import Rated, alpha, differences, rounded, source_scores
from annotate.kinds.rating.sources import captions_of
from annotate.models import Release, ReleasedFile
from corpora.wording import counted
from corpora.writing.json_text import dump, json_array
from shared.csv_text import csv_line

DIGITS = 3
# The key of each image by its number in the release.
Keys = Mapping[int, str]


def ratings_json(
    info: Mapping[str, Any],
    questions: Sequence[Question],
    figures: Mapping[str, Any],
    captions: Sequence[Rated],
    keys: Keys,
) -> Iterator[str]:
    """`ratings.json`: the questions, the sources' scores, and each caption with its ratings."""
    asked = [
        {"name": question.name, "text": question.text, "labels": question.labels}
        for question in questions
    ]
    yield '{"info": ' + dump(info) + ', "questions": ' + dump(asked)
    for name, value in figures.items():
        yield f", {dump(name)}: {dump(value)}"
    yield ', "captions": '
    yield from json_array(_entry(caption, keys) for caption in captions)
    yield "}\n"


def ratings_csv(captions: Iterable[Rated], keys: Keys) -> Iterator[str]:
    """`ratings.csv`: a row for each caption, source and worker."""
    yield csv_line(["image_id", "image", "caption_id", "source", "worker", *NAMES])
    for caption in captions:
        for source in sorted(caption.sources):
            for worker, given in caption.ratings.items():
                ratings = [given.get(name, "") for name in NAMES]
                yield csv_line([*_place(caption, keys), source, worker, *ratings])


def scores_csv(captions: Iterable[Rated], keys: Keys) -> Iterator[str]:
    """`scores.csv`: a row for each caption and source, with the mean of its ratings."""
    yield csv_line(["image_id", "image", "caption_id", "source", "caption", "raters", *NAMES])
    for caption in captions:
        scores = [_rounded(score) for score in caption.scores().values()]
        for source, text in sorted(caption.sources.items()):
            place = _place(caption, keys)
            yield csv_line([*place, source, text, len(caption.ratings), *scores])


def sources_csv(figures: Mapping[str, Any]) -> Iterator[str]:
    """`sources.csv`: a row for each source and question, with the score and its interval."""
    yield csv_line(["source", "question", "mean", "low", "high", "images"])
    for source in figures["sources"]:
        for question, score in source["scores"].items():
            cells = [score[name] for name in ("mean", "low", "high", "images")]
            yield csv_line([source["name"], question, *cells])


def _entry(caption: Rated, keys: Keys) -> dict[str, Any]:
    return {
        "id": f"{caption.image}-{caption.number}",
        "image_id": caption.image,
        "image": keys[caption.image],
        "caption": caption.text,
        "sources": dict(sorted(caption.sources.items())),
        "scores": {name: _rounded(score) for name, score in caption.scores().items()},
        "ratings": [
            {"worker": worker, **{name: given[name] for name in NAMES if name in given}}
            for worker, given in caption.ratings.items()
        ],
    }


def _place(caption: Rated, keys: Keys) -> list[Any]:
    return [caption.image, keys[caption.image], f"{caption.image}-{caption.number}"]


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, DIGITS)


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
        "alpha": {k: None if v is None else round(v, DIGITS) for k, v in alphas.items()},
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
    info = describe(release, f"ratings of {counted(len(captions), 'caption')}")
    figures = release.figures
    questions = questions_in(release.language)
    ratings = ratings_json(info, questions, figures, captions, keys)
    yield from rows_of(release, "ratings.json", ratings)
    yield from rows_of(release, "ratings.csv", ratings_csv(captions, keys))
    yield from rows_of(release, "scores.csv", scores_csv(captions, keys))
    yield from rows_of(release, "sources.csv", sources_csv(figures))
