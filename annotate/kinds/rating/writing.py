"""The files of a release of ratings, in chunks of text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotate.exports.csv_text import csv_line
from annotate.exports.json_text import dump, json_array
from annotate.kinds.rating.answers import NAMES, Question
from annotate.kinds.rating.scores import Rated

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
