"""The tables of a release of ratings, from its stored files and its figures."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from annotate.exports.files import RESPONSE, WORKER, response_numbers, responses_table, stored
from annotate.exports.images import image_tables
from annotate.exports.tables import Column, Row, Table, Type
from annotate.kinds.rating.answers import NAMES, Question, questions_in
from annotate.models import Release
from corpora.writing.json_text import members

IMAGE = Column("image_id", Type.INTEGER, "id of the image", refers_to="images.image_id")
CAPTION = Column("caption_id", Type.TEXT, "id of the caption", refers_to="captions.id")
SOURCE = Column("source", Type.TEXT, "name of the source")
QUESTION = Column("question", Type.TEXT, f"one of {', '.join(NAMES)}")
SCORE = [
    Column("mean", Type.NUMBER, "mean over the images"),
    Column("low", Type.NUMBER, "lower end of the 95% interval"),
    Column("high", Type.NUMBER, "upper end of the 95% interval"),
    Column("images", Type.INTEGER, "number of images"),
]
CAPTIONS = [
    Column("id", Type.TEXT, "id of the caption in this release"),
    IMAGE,
    Column("caption", Type.TEXT, "the caption as workers saw it"),
    Column("raters", Type.INTEGER, "number of workers who rated it"),
]
RATINGS = [CAPTION, IMAGE, RESPONSE, WORKER]


def tables(release: Release) -> list[Table]:
    """`images`, `boxes`, `captions`, `source_captions`, `ratings`, `scores`, `differences` and
    `responses`."""
    questions = questions_in(release.language)
    return [
        *image_tables(release),
        Table(
            "captions",
            "One row for each caption that was rated.",
            [*CAPTIONS, *_columns(questions, Type.NUMBER, "mean rating")],
            partial(_captions, release),
            listed="caption",
        ),
        Table(
            "source_captions",
            "One row for each caption and source, with the text as the source has it.",
            [CAPTION, SOURCE, Column("text", Type.TEXT, "the source's text")],
            partial(_source_captions, release),
        ),
        Table(
            "ratings",
            "One row for each caption and worker.",
            [*RATINGS, *_columns(questions, Type.INTEGER, "rating")],
            partial(_ratings, release),
        ),
        Table(
            "scores",
            "One row for each source and question.",
            [SOURCE, QUESTION, *SCORE],
            partial(_scores, release),
        ),
        Table(
            "differences",
            "One row for two sources and a question: the first one's score minus the second's.",
            [SOURCE, Column("minus", Type.TEXT, "the second source"), QUESTION, *SCORE],
            partial(_differences, release),
        ),
        responses_table(release, IMAGE),
    ]


def _columns(questions: Sequence[Question], type_: Type, what: str) -> list[Column]:
    return [Column(each.name, type_, f"{what} from 1 to 5: {each.text}") for each in questions]


def _entries(release: Release) -> Iterator[Mapping[str, Any]]:
    return members(stored(release, name="ratings.json"), "captions")


def _captions(release: Release) -> Iterator[Row]:
    for entry in _entries(release):
        scores = [entry["scores"][name] for name in NAMES]
        raters = len(entry["ratings"])
        yield (entry["id"], entry["image_id"], entry["caption"], raters, *scores)


def _source_captions(release: Release) -> Iterator[Row]:
    for entry in _entries(release):
        yield from ((entry["id"], source, text) for source, text in entry["sources"].items())


def _ratings(release: Release) -> Iterator[Row]:
    numbers = response_numbers(release)
    for entry in _entries(release):
        for rating in entry["ratings"]:
            worker, given = rating["worker"], [rating.get(name) for name in NAMES]
            response = numbers[entry["image_id"], worker]
            yield (entry["id"], entry["image_id"], response, worker, *given)


def _scores(release: Release) -> Iterator[Row]:
    for source in release.figures["sources"]:
        yield from ((source["name"], *score) for score in _by_question(source["scores"]))


def _differences(release: Release) -> Iterator[Row]:
    for pair in release.figures["differences"]:
        for score in _by_question(pair["scores"]):
            yield (pair["source"], pair["minus"], *score)


def _by_question(scores: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    for question in NAMES:
        yield (question, *(scores[question][column.name] for column in SCORE))
