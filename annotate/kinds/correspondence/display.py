"""The boxes that the words of a caption refer to, for templates."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from annotate.images.copies import display_url
from annotate.kinds.correspondence import brackets
from annotate.kinds.correspondence.answers import KIND_LABELS, WordKind, kinds, links
from annotate.kinds.correspondence.boxes import NumberedBox
from annotate.kinds.correspondence.rules import rules_of
from annotate.kinds.correspondence.shown_boxes import numbered_boxes
from annotate.models import ReleasedImage, Response

# A passage in brackets with its boxes' numbers: `[two dogs]3,4`.
LINKED = re.compile(r"\[([^][]*)\](\d+(?:,\d+)*)")


class ReleasedPicture(NamedTuple):
    """An image and its released caption in passages, each with the numbers of its boxes."""

    image_url: str
    boxes: list[NumberedBox]
    named: set[int]
    passages: list[tuple[str, list[int]]]


class LinkedCaption(NamedTuple):
    """A worker's word–box links as a page shows them."""

    image_url: str
    boxes: list[NumberedBox]
    named: set[int]  # the numbers of the boxes that a word refers to
    pieces: list[dict[str, Any]]


def linked_caption(response: Response) -> LinkedCaption:
    """The boxes and the caption of a response.

    Each of the `pieces` has a `text` and, if the worker answered it, its `boxes` or its `kind`.
    """
    task, words = response.task, response.correspondence.words
    shown = numbered_boxes([task.image_id], parts=rules_of(task.campaign.config).parts)
    boxes = {box.key: box for box in shown[task.image_id]}
    # A submission may name a box that the campaign does not show. Ignore it.
    known = [(number, box) for number, box in links(words) if box in boxes]
    marked: dict[int, tuple[int | str, ...]] = {n: (kind,) for n, kind in kinds(words).items()}
    for number, box in sorted(known, key=lambda link: boxes[link[1]].number):
        marked[number] = (*marked.get(number, ()), box)
    caption = task.subject.text if task.subject else ""
    return LinkedCaption(
        display_url(task.image),
        list(boxes.values()),
        {boxes[box].number for _, box in known},
        [_piece(text, marks, boxes) for text, marks in brackets.passages(caption, marked)],
    )


def released_picture(image: ReleasedImage) -> ReleasedPicture:
    """A released caption and the image's boxes as they are now."""
    task = image.task
    shown = numbered_boxes([task.image_id], parts=rules_of(task.campaign.config).parts)
    passages = list(_passages(image.record["bracketed"]))
    named = {number for _, numbers in passages for number in numbers}
    return ReleasedPicture(display_url(task.image), shown[task.image_id], named, passages)


def _passages(bracketed: str) -> Iterator[tuple[str, list[int]]]:
    end = 0
    for found in LINKED.finditer(bracketed):
        if found.start() > end:
            yield bracketed[end : found.start()], []
        yield found[1], [int(number) for number in found[2].split(",")]
        end = found.end()
    if end < len(bracketed):
        yield bracketed[end:], []


def _piece(
    text: str, marks: tuple[int | str, ...], boxes: dict[int, NumberedBox]
) -> dict[str, Any]:
    return {
        "text": text,
        "boxes": [boxes[mark] for mark in marks if isinstance(mark, int)],
        "kind": "".join(KIND_LABELS[WordKind(mark)] for mark in marks if isinstance(mark, str)),
    }
