"""A release of texts with all their versions, its files and its tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

from annotate.exports.files import WORKER, Files, describe, language_key, responses_table
from annotate.exports.images import image_tables, ordered
from annotate.exports.tables import CHUNK, Column, Row, Table, Type
from annotate.kinds.caption.export import LANGUAGE
from annotate.kinds.freezing import Drawn, as_submitted, save_figures, save_items
from annotate.kinds.refine.changes import Part, edit_distance, new_content_words, parts
from annotate.models import Behaviour, Release, ReleasedAnswer, ReleasedImage, Task
from corpora.language.languages import is_english
from corpora.language.tokens import tokens
from corpora.writing import json_file

WORDS = ("kept", "added", "removed")
WRITTEN = "written"


def draft_of(task: Task) -> str:
    """The text that the first round begins with; empty if it begins with nothing."""
    return str(_payload(task).get("text", ""))


def origin_of(task: Task) -> str:
    """`written`, or from which captions the text was edited."""
    return str(_payload(task).get("origin", WRITTEN))


def _payload(task: Task) -> dict[str, Any]:
    return task.payload or {}


def freeze(release: Release, drawn: Iterable[Drawn], numbers: Mapping[int, int]) -> None:
    """Save each image with its last text, the draft, and all versions in order."""
    # A version was stored after the one that it builds on.
    drawn = as_submitted(drawn)
    behaviours = Behaviour.objects.filter(response__campaign=release.campaign)
    ways = dict(behaviours.values_list("response", "characters"))
    records = [_record(of_task, ways) for of_task in drawn]
    save_items(release, drawn, numbers, records)
    save_figures(release, {"rounds": _rounds(drawn, records, is_english(release.language))})


def _record(drawn: Drawn, ways: Mapping[int, Any]) -> dict[str, Any]:
    return {
        "text": drawn.responses[-1].answer["text"],
        "origin": origin_of(drawn.task),
        "draft": draft_of(drawn.task),
        "versions": [
            {
                "text": response.answer["text"],
                "words": response.answer["words"],
                "characters": ways.get(response.pk),
            }
            for response in drawn.responses
        ],
    }


def _rounds(
    drawn: Sequence[Drawn], records: Sequence[Mapping[str, Any]], english: bool
) -> list[dict[str, Any]]:
    """The gain of each round: means over the images. Garg et al. 2024 report the time of a round,
    the length of its texts, and how similar they are to those of the round before."""
    rounds = []
    for number in range(len(records[0]["versions"])):
        texts = [record["versions"][number]["text"] for record in records]
        before = [_before(record, number) for record in records]
        pairs = list(zip(before, texts, strict=True))
        seconds = [of_task.responses[number].seconds for of_task in drawn]
        measured = [value for value in seconds if value is not None]
        rounds.append(
            {
                "round": number + 1,
                "words": _mean(len(tokens(text)) for text in texts),
                "edit_distance": _mean(edit_distance(*pair) for pair in pairs),
                "new_content_words": _mean(new_content_words(*pair) for pair in pairs)
                if english
                else None,
                "unchanged": sum(old == new for old, new in pairs),
                "seconds": _mean(measured) if measured else None,
            }
        )
    return rounds


def _mean(values: Iterable[float]) -> float:
    return round(fmean(values), 1)


def _before(record: Mapping[str, Any], number: int) -> str:
    """The text that the version at this place, from 0, builds on."""
    return str(record["versions"][number - 1]["text"] if number else record["draft"])


def shown_versions(image: ReleasedImage) -> list[list[Part]]:
    """The changes of each version."""
    record = image.record
    return [
        list(parts(_before(record, number), version["text"]))
        for number, version in enumerate(record["versions"])
    ]


def captions_file(release: Release) -> Iterator[str]:
    """`captions.json`: the last text of each image in COCO's form, with its origin."""
    language = language_key(release)
    yield from json_file(
        {
            "info": describe(release, "texts in rounds"),
            "images": (
                {"id": number}
                | {key: value for key, value in ordered(record).items() if key not in OWN}
                for number, record in _records(release)
            ),
            "annotations": (
                {
                    "id": number,
                    "image_id": number,
                    "caption": record["text"],
                    "origin": record["origin"],
                    **language,
                }
                for number, record in _records(release)
            ),
        }
    )


def chains_file(release: Release) -> Iterator[str]:
    """`chains.json`: each image's draft and all versions, and what each round gained."""
    chains = (_chain(*row) for row in _with_workers(release))
    rounds = [dict(sorted(each.items())) for each in release.figures["rounds"]]
    yield from json_file({"rounds": rounds, "chains": chains})


def _chain(number: int, record: Mapping[str, Any], workers: Sequence[int]) -> dict[str, Any]:
    return {
        "image_id": number,
        "origin": record["origin"],
        "draft": record["draft"],
        "versions": [
            {
                "round": place,
                "worker": worker,
                "text": version["text"],
                **{what: version["words"][what] for what in WORDS},
                "characters": (ways := version["characters"]) and dict(sorted(ways.items())),
            }
            for place, (version, worker) in enumerate(
                zip(record["versions"], workers, strict=True), start=1
            )
        ],
    }


# The keys of a record that only this task type has.
OWN = ("text", "origin", "draft", "versions")
FILES: Files = {"captions.json": captions_file, "chains.json": chains_file}


def _records(release: Release) -> Iterator[tuple[int, dict[str, Any]]]:
    return release.images.order_by("number").values_list("number", "record").iterator(CHUNK)


def _with_workers(release: Release) -> Iterator[tuple[int, dict[str, Any], list[int]]]:
    answers = ReleasedAnswer.objects.filter(image__release=release).order_by("image__number", "pk")
    workers = answers.values_list("worker_number", flat=True).iterator(CHUNK)
    for number, record in _records(release):
        yield number, record, [next(workers) for _ in record["versions"]]


IMAGE = Column("image_id", Type.INTEGER, "id of the image", refers_to="images.image_id")
ORIGIN = Column("origin", Type.TEXT, "written, or from which captions the text was edited")
ROUND = Column("round", Type.INTEGER, "the round, from 1; 0 is the draft")


def tables(release: Release) -> list[Table]:
    """`images`, `boxes`, `captions` with the last texts, `versions` and `responses`."""
    images, boxes = image_tables(release)
    further = [LANGUAGE] if language_key(release) else []
    texts = Table(
        "captions",
        "One row for each image: its last text.",
        [IMAGE, Column("caption", Type.TEXT, "the text of the last round"), ORIGIN, *further],
        partial(_texts, release),
        listed="caption",
    )
    versions = Table(
        "versions",
        "One row for each version of a text, and for the draft that it began with.",
        [
            IMAGE,
            ROUND,
            Column("text", Type.TEXT, "the text after this round"),
            ORIGIN,
            *(
                Column(f"words_{change}", Type.INTEGER, f"number of words {change}")
                for change in WORDS
            ),
            WORKER,
        ],
        partial(_versions, release),
    )
    # Lines about images list their captions without the other columns of the table.
    with_origin = replace(
        images, columns=[*images.columns, ORIGIN], rows=partial(_with_origin, release, images)
    )
    return [with_origin, boxes, texts, versions, responses_table(release, IMAGE)]


def _texts(release: Release) -> Iterator[Row]:
    language = language_key(release).values()
    for number, record in _records(release):
        yield (number, record["text"], record["origin"], *language)


def _with_origin(release: Release, images: Table) -> Iterator[Row]:
    for row, (_, record) in zip(images.rows(), _records(release), strict=True):
        yield (*row, record["origin"])


def _versions(release: Release) -> Iterator[Row]:
    for number, record, workers in _with_workers(release):
        origin = record["origin"]
        if record["draft"]:
            taken = origin.replace("edited from", "taken from", 1)
            yield (number, 0, record["draft"], taken, None, None, None, None)
        for place, (version, worker) in enumerate(
            zip(record["versions"], workers, strict=True), start=1
        ):
            counts = [version["words"][change] for change in WORDS]
            yield (number, place, version["text"], origin, *counts, worker)
