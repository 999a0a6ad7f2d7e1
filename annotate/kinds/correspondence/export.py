"""The files of a release of word–box links, as text.

The id of a box in the files consists of its image's id and the box's number in the image.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from annotate.kinds.correspondence.aggregation import Answers, Word
from annotate.kinds.correspondence.answers import Words, alpha, mean_overlaps, units
from annotate.kinds.correspondence.brackets import bracketed, entities, passages
from annotate.queries.images import NumberedBox
from corpora.language.tokens import tokens
from corpora.writing import json_file, json_object

DIGITS = 4


@dataclass(frozen=True)
class Sentence:
    """A caption with each worker's answer and the combined answer."""

    number: int
    image: str
    annotation_id: int
    caption: str
    answers: Answers
    words: Mapping[int, Word]

    @cached_property
    def linked(self) -> dict[int, tuple[int, ...]]:
        """The boxes of each linked word."""
        return {
            number: tuple(link.box for link in word.links)
            for number, word in self.words.items()
            if word.links
        }

    @property
    def bracketed(self) -> str:
        """The caption with its links in brackets."""
        return bracketed(self.caption, self.linked)

    @cached_property
    def agreement(self) -> dict[str, float | None]:
        """Agreement of the caption's workers; empty for a single worker."""
        shared = mean_overlaps(dict(enumerate(self.answers.words)))
        return {
            "overlap": rounded(sum(shared.values()) / len(shared) if shared else None),
            "alpha": rounded(alpha(units(self.answers.words))),
        }


class Picture(NamedTuple):
    """An image with the boxes that workers could choose, and its record for `boxes.json`.

    The record includes `width` and `height` in pixels.
    """

    key: str
    about: Mapping[str, Any]
    boxes: Sequence[NumberedBox]


def box_id(image: str, number: int) -> str:
    """A box's id in all files."""
    return f"{image}-{number}"


def correspondences_file(about: Mapping[str, Any], sentences: Iterable[Sentence]) -> Iterator[str]:
    """`correspondences.json`: each caption with its words, their links, and the workers'
    answers."""
    yield from json_file({"info": about, "captions": map(_entry, sentences)})


def boxes_file(pictures: Sequence[Picture]) -> Iterator[str]:
    """`boxes.json`: every box that a worker could choose, in pixels and in fractions."""
    yield '{"images": '
    yield from json_object((picture.key, picture.about) for picture in pictures)
    yield ', "boxes": '
    yield from json_object(
        (box_id(picture.key, box.number), _box(picture, box))
        for picture in pictures
        for box in picture.boxes
    )
    yield "}\n"


def gold_file(sentences: Iterable[Sentence]) -> Iterator[str]:
    """`gold.json`: for each image, the boxes that each of its descriptions mentions."""
    gold: dict[str, list[list[str]]] = defaultdict(list)
    for sentence in sentences:
        mentioned = {box for boxes in sentence.linked.values() for box in boxes}
        ids = [box_id(sentence.image, number) for number in sorted(mentioned)]
        gold[sentence.image].append(ids)
    yield from json_object(gold.items())
    yield "\n"


def mentions_file(sentences: Iterable[Sentence]) -> Iterator[str]:
    """`mentions.json`: for each image, the mentions of each of its descriptions in their order.

    A mention is a passage of words, and lists the boxes that it refers to.
    """
    mentions: dict[str, list[list[list[str]]]] = defaultdict(list)
    for sentence in sentences:
        mentions[sentence.image].append(
            [
                [box_id(sentence.image, number) for number in boxes]
                for _, boxes in passages(sentence.caption, sentence.linked)
                if boxes
            ]
        )
    yield from json_object(mentions.items())
    yield "\n"


def brackets_file(sentences: Iterable[Sentence]) -> Iterator[str]:
    """`brackets.txt`: one caption per line with links in brackets, after its image and id."""
    for sentence in sentences:
        yield f"{sentence.image}#{sentence.annotation_id}\t{sentence.bracketed}\n"


def sentence_files(
    sentences: Iterable[Sentence], pictures: Iterable[Picture]
) -> Iterator[tuple[str, str]]:
    """Each image's key with its captions, one per line, in the format of Flickr30k Entities."""
    lines: dict[str, list[str]] = {picture.key: [] for picture in pictures}
    names = {picture.key: {box.number: box.name for box in picture.boxes} for picture in pictures}
    for sentence in sentences:
        kinds = {number: word.kind.value for number, word in sentence.words.items() if word.kind}
        line = entities(sentence.caption, sentence.linked, names[sentence.image], kinds)
        lines[sentence.image].append(f"{line}\n")
    for key, written in lines.items():
        yield key, "".join(written)


def _entry(sentence: Sentence) -> dict[str, Any]:
    return {
        "id": sentence.number,
        "image_id": sentence.image,
        "annotation_id": sentence.annotation_id,
        "caption": sentence.caption,
        "tokens": [token._asdict() for token in tokens(sentence.caption)],
        **_outcome(sentence),
        "agreement": sentence.agreement,
        "answers": [
            {"worker": worker, "words": _said(sentence.image, words)}
            for worker, words in zip(*sentence.answers, strict=True)
        ],
    }


def _outcome(sentence: Sentence) -> dict[str, Any]:
    words = sorted(sentence.words.items())
    return {
        "links": {
            number: [
                {
                    "box": box_id(sentence.image, link.box),
                    "support": round(link.support, DIGITS),
                    "probability": round(link.probability, DIGITS),
                }
                for link in word.links
            ]
            for number, word in words
            if word.links
        },
        "kinds": {
            number: {"kind": word.kind, "support": rounded(word.support)}
            for number, word in words
            if word.kind
        },
        "undecided": [number for number, word in words if not word.links and not word.kind],
    }


def _said(image: str, words: Words) -> dict[str, Any]:
    return {
        number: said if isinstance(said, str) else [box_id(image, box) for box in said]
        for number, said in words.items()
    }


def _box(picture: Picture, box: NumberedBox) -> dict[str, Any]:
    left, top, right, bottom = box.x_min, box.y_min, box.x_max, box.y_max
    width, height = picture.about["width"], picture.about["height"]
    pixels = None
    if width and height:
        edges = (left * width, top * height, (right - left) * width, (bottom - top) * height)
        pixels = [round(edge, 2) for edge in edges]
    return {
        "image_id": picture.key,
        "number": box.number,
        "label": box.name,
        "class": box.label,
        "is_group": box.is_group,
        "is_part": box.is_part,
        "bbox": pixels,
        "fractions": [left, top, right, bottom],
    }


def rounded(figure: float | None) -> float | None:
    """A number as written to files."""
    return None if figure is None else round(figure, DIGITS)
