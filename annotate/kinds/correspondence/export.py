"""Export a release of word–box links.

The files were computed by `writing.py` when the release was made, and stored with it. An export
only copies them, so it gives the same files even if the code changes.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from annotate.exports.files import RESPONSE, WORKER, responses_table, stored, stored_files
from annotate.exports.images import image_key, image_tables
from annotate.exports.tables import Column, Row, Table, Type
from annotate.models import Release
from corpora.writing.json_text import members

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
