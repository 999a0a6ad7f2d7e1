"""Freeze a release of ratings: each caption with its ratings, and the scores; and its tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from annotate.exports.files import (
    RESPONSE,
    WORKER,
    describe,
    response_numbers,
    responses_table,
    save_files,
    stored,
)
from annotate.exports.images import image_tables
from annotate.exports.records import image_names
from annotate.exports.tables import Column, Row, Table, Type
from annotate.kinds.freezing import (
    Candidate,
    Drawn,
    as_submitted,
    save_figures,
    save_items,
)
from annotate.kinds.rating.answers import (
    TOTAL,
    Question,
    Rating,
    points_of,
    questions_of,
    scored_names,
)
from annotate.kinds.rating.marks import MARKS, Marked
from annotate.kinds.rating.scores import (
    Rated,
    alpha,
    differences,
    marks_alpha,
    rounded,
    source_scores,
)
from annotate.kinds.rating.sources import captions_of
from annotate.models import Release
from corpora.wording import counted
from corpora.writing import json_file, members
from shared.tables import csv_lines

# The id and the file name of each image by its number in the release.
Names = Mapping[int, Mapping[str, str]]


def ratings_json(
    info: Mapping[str, Any],
    questions: Sequence[Question],
    figures: Mapping[str, Any],
    captions: Sequence[Rated],
    images: Names,
) -> Iterator[str]:
    """`ratings.json`: the questions, the sources' scores, and each caption with its ratings."""
    asked = [question.model_dump(exclude={"help"}, exclude_defaults=True) for question in questions]
    names = scored_names(questions)
    entries = (_entry(caption, images, names) for caption in captions)
    yield from json_file({"info": info, "questions": asked, **figures, "captions": entries})


def ratings_csv(captions: Iterable[Rated], images: Names, names: Sequence[str]) -> Iterator[str]:
    """`ratings.csv`: a row for each caption, source and worker."""
    rows = (
        [*_place(caption, images), source, worker, *(given.get(name, "") for name in names)]
        for caption in captions
        for source in sorted(caption.sources)
        for worker, given in caption.ratings.items()
    )
    return csv_lines([*PLACE, "source", "worker", *names], rows)


def scores_csv(captions: Iterable[Rated], images: Names, names: Sequence[str]) -> Iterator[str]:
    """`scores.csv`: a row for each caption and source, with the mean of its ratings."""
    head = [*PLACE, "source", "caption", "raters", *names]
    rows = (
        [*_place(caption, images), source, text, len(caption.ratings), *_means(caption, names)]
        for caption in captions
        for source, text in sorted(caption.sources.items())
    )
    return csv_lines(head, rows)


def _entry(caption: Rated, images: Names, names: Sequence[str]) -> dict[str, Any]:
    return {
        "id": f"{caption.image}-{caption.number}",
        "image_id": caption.image,
        **images[caption.image],
        "caption": caption.text,
        "sources": dict(sorted(caption.sources.items())),
        "scores": dict(zip(names, _means(caption, names), strict=True)),
        "ratings": [
            {"worker": worker, **{name: given[name] for name in names if name in given}}
            for worker, given in caption.ratings.items()
        ],
        **(caption.marked.entry() if caption.marked else {}),
    }


def _means(caption: Rated, names: Sequence[str]) -> list[float | None]:
    return [rounded(score) for score in caption.scores(names).values()]


PLACE = ["image_id", "image", "file_name", "caption_id"]


def _place(caption: Rated, images: Names) -> list[Any]:
    number = caption.image
    return [number, *images[number].values(), f"{number}-{caption.number}"]


def freeze(release: Release, drawn: Iterable[Drawn], numbers: Mapping[int, int]) -> None:
    """Save the release's items, its scores and its files."""
    drawn = as_submitted(drawn)
    questions = questions_of(release.campaign.config)
    names = scored_names(questions)
    captions = [list(_rated(of_task, numbers, questions)) for of_task in drawn]
    every = list(chain.from_iterable(captions))
    save_items(release, drawn, numbers, (_shown(rated, names) for rated in captions))
    save_figures(release, _figures(release, every, names))
    images = {task.number: image_names(task.image) for task, _ in drawn}
    save_files(release, _files(release, every, images, questions))


def _rated(
    drawn: Drawn, numbers: Mapping[int, int], questions: Sequence[Question]
) -> Iterator[Rated]:
    """The captions of a task with their ratings."""
    for number, caption in enumerate(captions_of(drawn.task), start=1):
        yield Rated(
            image=drawn.task.number,
            number=number,
            text=caption["text"],
            sources=caption["sources"],
            ratings=_points(drawn.responses, str(number), numbers, questions),
            marked=marked_caption(drawn, number, caption["text"], numbers),
        )


def marked_caption(
    drawn: Drawn, number: int, text: str, numbers: Mapping[int, int]
) -> Marked | None:
    """A caption of the page with the marks of all workers; None if the page asks for no marks."""
    if not (drawn.task.payload or {}).get(MARKS):
        return None
    marks = {
        numbers[response.worker_id]: response.answer.get(MARKS, {}).get(str(number), {})
        for response in drawn.responses
    }
    return Marked(text, marks)


def _points(
    responses: Sequence[Candidate],
    caption: str,
    numbers: Mapping[int, int],
    questions: Sequence[Question],
) -> dict[int, dict[str, float]]:
    return {
        numbers[response.worker_id]: points_of(response.answer[caption], questions)
        for response in responses
        if caption in response.answer
    }


def _shown(captions: Sequence[Rated], names: Sequence[str]) -> dict[str, Any]:
    """The captions of an image for the release's page."""
    return {
        "captions": [
            {
                "text": caption.text,
                "sources": sorted(caption.sources),
                "scores": [*caption.scores(names).items()],
            }
            for caption in captions
        ]
    }


def _figures(release: Release, captions: Sequence[Rated], names: Sequence[str]) -> dict[str, Any]:
    """Agreement, scores and differences of the whole release."""
    rules = Rating.of(release.campaign.config)
    sources = [source.name for source in rules.sources]
    words = marks_alpha(caption.marked for caption in captions if caption.marked)
    alphas = {name: alpha(captions, name) for name in names}
    scores = source_scores(captions, sources, names, release.seed)
    apart = differences(captions, sources, names, release.seed)
    return {
        "alpha": {name: rounded(value) for name, value in alphas.items()},
        **({"alpha_of_wrong_words": rounded(words)} if rules.marks else {}),
        "sources": [
            {
                "name": source,
                "captions": sum(source in caption.sources for caption in captions),
                "scores": {name: score.entry() for name, score in scores[source].items()},
            }
            for source in sources
        ],
        "differences": [
            {
                "source": first,
                "minus": second,
                "scores": {name: score.entry() for name, score in of_pair.items()},
            }
            for (first, second), of_pair in apart.items()
        ],
    }


def ordered_figures(release: Release) -> dict[str, Any]:
    """The stored figures with the scores in the order of the questions.

    Not every database keeps the order of a JSON object's keys.
    """
    names = scored_names(questions_of(release.config))
    figures: dict[str, Any] = release.figures
    rows = {
        key: [
            row | {"scores": {name: row["scores"][name] for name in names}} for row in figures[key]
        ]
        for key in ("sources", "differences")
    }
    return figures | rows | {"alpha": {name: figures["alpha"][name] for name in names}}


def _files(
    release: Release,
    captions: Sequence[Rated],
    images: Names,
    questions: Sequence[Question],
) -> dict[str, Iterable[str]]:
    info = describe(release, f"ratings of {counted(len(captions), 'caption')}")
    names = scored_names(questions)
    of_sources = [column.name for column in (SOURCE, QUESTION, *SCORE)]
    return {
        "ratings.json": ratings_json(info, questions, release.figures, captions, images),
        "ratings.csv": ratings_csv(captions, images, names),
        "scores.csv": scores_csv(captions, images, names),
        "sources.csv": csv_lines(of_sources, _scores(release, names)),
    }


IMAGE = Column("image_id", Type.INTEGER, "id of the image", refers_to="images.image_id")
CAPTION = Column("caption_id", Type.TEXT, "id of the caption", refers_to="captions.id")
SOURCE = Column("source", Type.TEXT, "name of the source")
QUESTION = Column("question", Type.TEXT, "name of the question, as in `captions`")
SCORE = [
    Column("mean", Type.NUMBER, "mean over the images"),
    Column("low", Type.NUMBER, "lower end of the 95% interval"),
    Column("high", Type.NUMBER, "upper end of the 95% interval"),
    Column("images", Type.INTEGER, "number of images"),
]
# Yields the captions of a release's file.
Entries = Callable[[Release], Iterator[Mapping[str, Any]]]
CAPTIONS = [
    Column("id", Type.TEXT, "id of the caption in this release"),
    IMAGE,
    Column("caption", Type.TEXT, "the caption as workers saw it"),
    Column("raters", Type.INTEGER, "number of workers who rated it"),
]
RATINGS = [CAPTION, IMAGE, RESPONSE, WORKER]


def tables(release: Release) -> list[Table]:
    """`images`, `boxes`, `captions`, `source_captions`, `ratings`, `scores`, `differences`,
    `marks` and `responses`."""
    questions = questions_of(release.config)
    texts = {question.name: question.text for question in questions}
    names = scored_names(questions)
    return [
        *image_tables(release),
        Table(
            "captions",
            "One row for each caption that was rated.",
            [*CAPTIONS, *_columns(names, texts, "mean rating")],
            partial(_captions, release, names),
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
            [*RATINGS, *_columns(names, texts, "rating")],
            partial(_ratings, release, names),
        ),
        Table(
            "scores",
            "One row for each source and question.",
            [SOURCE, QUESTION, *SCORE],
            partial(_scores, release, names),
        ),
        Table(
            "differences",
            "One row for two sources and a question: the first one's score minus the second's.",
            [SOURCE, Column("minus", Type.TEXT, "the second source"), QUESTION, *SCORE],
            partial(_differences, release, names),
        ),
        marks_table(_entries, release),
        responses_table(release, IMAGE),
    ]


def marks_table(entries: Entries, release: Release) -> Table:
    """The table `marks`; `entries` yields the captions of the release's file."""
    return Table(
        "marks",
        "One row for each run of words that a worker marked as not true of the image, and for each "
        "text about what is missing. Without rows, workers marked nothing or were not asked.",
        [
            *RATINGS,
            Column("start", Type.INTEGER, "place of the first character, from 0"),
            Column("end", Type.INTEGER, "place after the last character"),
            Column("wrong", Type.TEXT, "the words that are not true"),
            Column("missing", Type.TEXT, "what is missing"),
        ],
        partial(_marks, entries, release),
    )


def _marks(entries: Entries, release: Release) -> Iterator[Row]:
    numbers = response_numbers(release)
    for entry in entries(release):
        for mark in entry.get("marks", ()):
            worker = mark["worker"]
            place = (entry["id"], entry["image_id"], numbers[entry["image_id"], worker], worker)
            for span in mark["wrong"]:
                yield (*place, span["start"], span["end"], span["text"], None)
            if mark["missing"]:
                yield (*place, None, None, None, mark["missing"])


def _columns(names: Sequence[str], texts: Mapping[str, str], what: str) -> list[Column]:
    texts = {**texts, TOTAL: "mean of the questions that are no penalties, plus the penalties"}
    return [Column(name, Type.NUMBER, f"{what}: {texts[name]}") for name in names]


def _entries(release: Release) -> Iterator[Mapping[str, Any]]:
    return members(stored(release, name="ratings.json"), "captions")


def _captions(release: Release, names: Sequence[str]) -> Iterator[Row]:
    for entry in _entries(release):
        scores = [entry["scores"][name] for name in names]
        raters = len(entry["ratings"])
        yield (entry["id"], entry["image_id"], entry["caption"], raters, *scores)


def _source_captions(release: Release) -> Iterator[Row]:
    for entry in _entries(release):
        yield from ((entry["id"], source, text) for source, text in entry["sources"].items())


def _ratings(release: Release, names: Sequence[str]) -> Iterator[Row]:
    numbers = response_numbers(release)
    for entry in _entries(release):
        for rating in entry["ratings"]:
            worker, given = rating["worker"], [rating.get(name) for name in names]
            response = numbers[entry["image_id"], worker]
            yield (entry["id"], entry["image_id"], response, worker, *given)


def _scores(release: Release, names: Sequence[str]) -> Iterator[Row]:
    for source in release.figures["sources"]:
        yield from ((source["name"], *score) for score in _by_question(source["scores"], names))


def _differences(release: Release, names: Sequence[str]) -> Iterator[Row]:
    for pair in release.figures["differences"]:
        for score in _by_question(pair["scores"], names):
            yield (pair["source"], pair["minus"], *score)


def _by_question(scores: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> Iterator[Row]:
    for question in names:
        yield (question, *(scores[question][column.name] for column in SCORE))
