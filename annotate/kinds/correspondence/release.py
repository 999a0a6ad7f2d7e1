"""Freeze a release of word–box links: compute its rows, statistics and files; and its tables.

The files are computed by `export.py` and stored with the release. An export only copies them, so
it gives the same files even if the code changes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from annotate.exports.files import (
    RESPONSE,
    WORKER,
    describe,
    responses_table,
    save_files,
    stored,
    stored_files,
)
from annotate.exports.images import image_key, image_tables
from annotate.exports.tables import Column, Row, Table, Type
from annotate.kinds.correspondence import export
from annotate.kinds.correspondence.aggregation import Answers, Word, aggregate
from annotate.kinds.correspondence.answers import Correspondences, Referent, Words, alpha, units
from annotate.kinds.correspondence.export import Picture, Sentence
from annotate.kinds.freezing import (
    Candidate,
    Drawn,
    as_submitted,
    save_figures,
    save_items,
)
from annotate.models import Release, ReleasedImage, Task
from annotate.queries.images import NumberedBox, numbered_boxes
from corpora.wording import counted
from corpora.writing import members

ABOUT = ("width", "height", "file_name", "coco_url")


def freeze(release: Release, drawn: Iterable[Drawn], numbers: Mapping[int, int]) -> None:
    """Save the release's rows, its statistics and its files."""
    config = Correspondences.of(release.campaign.config)
    drawn = as_submitted(drawn)
    boxes = numbered_boxes({task.image_id for task, _ in drawn}, parts=config.parts)
    answers = [_by_worker(responses, boxes[task.image_id], numbers) for task, responses in drawn]
    agreed = aggregate(answers, config.aggregation)
    sentences = [
        _sentence(task, given, words)
        for (task, _), given, words in zip(drawn, answers, agreed, strict=True)
    ]
    outcomes = (
        {"bracketed": sentence.bracketed, "agreement": sentence.agreement} for sentence in sentences
    )
    images = save_items(release, drawn, numbers, outcomes)
    overall = alpha(unit for given in answers for unit in units(given.words))
    figures = {"aggregation": config.aggregation, "alpha": export.rounded(overall)}
    save_figures(release, figures)
    save_files(release, _files(release, sentences, list(_pictures(images, boxes))))


def _by_worker(
    responses: Sequence[Candidate], boxes: Sequence[NumberedBox], numbers: Mapping[int, int]
) -> Answers:
    """The drawn answers for a caption, by worker number."""
    by_key = {box.key: box.number for box in boxes}
    return Answers(
        [numbers[response.worker_id] for response in responses],
        [_by_number(response.answer, by_key) for response in responses],
    )


def _by_number(words: Words, numbers: Mapping[int, int]) -> dict[str, Referent]:
    """The answer with box numbers in place of keys.

    Boxes that are no longer shown are removed, and words without remaining boxes, too.
    """
    by_number = {
        word: said
        if isinstance(said, str)
        else sorted(numbers[box] for box in said if box in numbers)
        for word, said in words.items()
    }
    # Sorted, because not every database keeps the order of a JSON object's keys.
    return {
        word: said
        for word, said in sorted(by_number.items(), key=lambda item: int(item[0]))
        if said
    }


def _sentence(task: Task, answers: Answers, words: Mapping[int, Word]) -> Sentence:
    subject = task.subject
    assert subject is not None, "a task of this kind is about a caption"
    return Sentence(
        task.number, task.image.key, subject.annotation_id, subject.text, answers, words
    )


def _pictures(
    images: Iterable[ReleasedImage], boxes: Mapping[int, Sequence[NumberedBox]]
) -> Iterator[Picture]:
    """Each image once, in the order of its first caption."""
    seen: set[int] = set()
    for image in images:
        task = image.task
        if task.image_id not in seen:
            seen.add(task.image_id)
            about = {name: image.record[name] for name in ABOUT}
            yield Picture(task.image.key, about, boxes[task.image_id])


def _files(
    release: Release, sentences: Sequence[Sentence], pictures: Sequence[Picture]
) -> dict[str, Iterable[str]]:
    about = describe(release, f"words of {counted(len(sentences), 'caption')} linked to boxes")
    by_image = export.sentence_files(sentences, pictures)
    return {
        "correspondences.json": export.correspondences_file(about | release.figures, sentences),
        "boxes.json": export.boxes_file(pictures),
        "gold.json": export.gold_file(sentences),
        "mentions.json": export.mentions_file(sentences),
        "brackets.txt": export.brackets_file(sentences),
        **{f"{SENTENCES}{key}.txt": [text] for key, text in by_image},
    }


SENTENCES = "sentences/"


CORRESPONDENCE_FILES = stored_files(
    "correspondences.json", "boxes.json", "gold.json", "mentions.json", "brackets.txt"
)


def sentence_files(release: Release) -> Iterator[tuple[str, list[str]]]:
    """The names and texts of the files in `sentences/`."""
    rows = release.files.filter(name__startswith=SENTENCES).order_by("pk")
    for name, text in rows.values_list("name", "text").iterator():
        yield name, [text]


CAPTION = Column("caption_id", Type.INTEGER, "id of the caption", refers_to="captions.id")
IMAGE = Column("image_id", Type.TEXT, "id of the image", refers_to="images.image_id")
WORD = Column("word", Type.INTEGER, "number of the word in the caption, from 0")
BOX = Column("box_id", Type.TEXT, "id of the box", refers_to="boxes.box_id")
EDGES = ("x_min", "y_min", "x_max", "y_max")

CAPTIONS = [
    Column("id", Type.INTEGER, "id of the caption in this release"),
    IMAGE,
    Column("annotation_id", Type.INTEGER, "id of the caption in its caption set"),
    Column("caption", Type.TEXT, "the caption"),
    Column("overlap", Type.NUMBER, "mean overlap of the workers' answers, 0 to 1"),
    Column("alpha", Type.NUMBER, "Krippendorff's alpha of the workers' answers"),
]
WORDS = [
    CAPTION,
    WORD,
    Column("text", Type.TEXT, "the word"),
    Column("start", Type.INTEGER, "its first character in the caption, from 0"),
    Column("end", Type.INTEGER, "the character after its last one"),
    Column("kind", Type.TEXT, "the kind of a word without a box"),
    Column("support", Type.NUMBER, "share of the workers who gave this kind"),
    Column("is_undecided", Type.BOOLEAN, "answered, but with neither a box nor a kind"),
]
LINKS = [
    CAPTION,
    WORD,
    BOX,
    Column("support", Type.NUMBER, "share of the workers who linked the two"),
    Column("probability", Type.NUMBER, "probability that the link is true"),
]
BOXES = [
    Column("box_id", Type.TEXT, "id of the box"),
    IMAGE,
    Column("number", Type.INTEGER, "number of the box in its image, from 1"),
    Column("label", Type.TEXT, "name of the class"),
    Column("class", Type.TEXT, "the class, as its dataset identifies it"),
    Column("is_group", Type.BOOLEAN, "the box has several objects of the class"),
    Column("is_part", Type.BOOLEAN, "the class is a part of others"),
    *(
        Column(edge, Type.NUMBER, f"{about} edge, as a fraction of the image")
        for edge, about in zip(EDGES, ("left", "upper", "right", "lower"), strict=True)
    ),
]
ANSWERS = [
    CAPTION,
    RESPONSE,
    WORKER,
    WORD,
    Column("box_id", Type.TEXT, "a box that the worker linked the word to"),
    Column("kind", Type.TEXT, "the kind that the worker gave a word without a box"),
]


def tables(release: Release) -> list[Table]:
    """`images`, `captions`, `words`, `links`, `boxes`, `answers` and `responses`."""
    images, *_ = image_tables(release, image_key)
    return [
        images,
        Table(
            "captions",
            "One row for each caption.",
            CAPTIONS,
            partial(_captions, release),
            listed="caption",
        ),
        Table("words", "One row for each word of a caption.", WORDS, partial(_words, release)),
        Table("links", "One row for each word and box linked.", LINKS, partial(_links, release)),
        Table("boxes", "One row for each box shown to workers.", BOXES, partial(_boxes, release)),
        Table(
            "answers",
            "One row for each word in a response, or for each of its boxes.",
            ANSWERS,
            partial(_answers, release),
        ),
        responses_table(release, CAPTION),
    ]


def _entries(release: Release) -> Iterator[Mapping[str, Any]]:
    return members(stored(release, name="correspondences.json"), "captions")


def _captions(release: Release) -> Iterator[Row]:
    for entry in _entries(release):
        about = [entry[name] for name in ("id", "image_id", "annotation_id", "caption")]
        yield (*about, entry["agreement"]["overlap"], entry["agreement"]["alpha"])


def _words(release: Release) -> Iterator[Row]:
    for entry in _entries(release):
        undecided = set(entry["undecided"])
        for number, token in enumerate(entry["tokens"]):
            kind = entry["kinds"].get(str(number), {})
            yield (
                entry["id"],
                number,
                token["text"],
                token["start"],
                token["end"],
                kind.get("kind"),
                kind.get("support"),
                number in undecided,
            )


def _links(release: Release) -> Iterator[Row]:
    for entry in _entries(release):
        for word, links in entry["links"].items():
            for link in links:
                about = (link["box"], link["support"], link["probability"])
                yield (entry["id"], int(word), *about)


def _boxes(release: Release) -> Iterator[Row]:
    names = ["image_id", "number", "label", "class", "is_group", "is_part"]
    for key, box in members(stored(release, name="boxes.json"), "boxes"):
        yield (key, *(box[name] for name in names), *box["fractions"])


def _answers(release: Release) -> Iterator[Row]:
    for entry in _entries(release):
        for number, answer in enumerate(entry["answers"], start=1):
            place = (entry["id"], number, answer["worker"])
            for word, said in answer["words"].items():
                if isinstance(said, str):
                    yield (*place, int(word), None, said)
                else:
                    yield from ((*place, int(word), box, None) for box in said)
