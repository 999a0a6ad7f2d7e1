"""The boxes that the words of a caption refer to, for templates, scripts and programs."""

from typing import Any, NamedTuple

from django.utils.translation import gettext

from annotate.campaign_file import CampaignConfig
from annotate.images.copies import display_url
from annotate.kinds.boxes import NumberedBox, numbered_boxes
from annotate.kinds.correspondence import brackets
from annotate.kinds.correspondence.answers import (
    KIND_LABELS,
    Correspondences,
    WordKind,
    kinds,
    links,
)
from annotate.kinds.correspondence.brackets import bracketed
from annotate.kinds.correspondence.export import box_id
from annotate.models import ReleasedImage, Response, Task
from corpora.language.tokens import tokens


def script_texts() -> dict[str, str]:
    """By the names that `static/kinds/correspondence/` uses; the scripts fill in what is in braces.

    `{box}` is a text `box`, and `{words}` a text `quoted`, or several with a `comma` between them.
    """
    return {
        "quoted": gettext("“{words}”"),
        "comma": gettext(", "),
        "and": gettext("{one} and {other}"),
        "box": gettext("box {number}, {label}"),
        "choose": gettext("Choose a word or a box."),
        "whichBoxes": gettext("Which boxes show {words}?"),
        "whichWords": gettext("Which words name {box}?"),
        "answer": gettext("{words}: {answer}."),
        "noChoice": gettext("no choice"),
        "progress": gettext("{progress}."),
        "missing": gettext("Please choose a box for {words}, or say why no box fits."),
        "undone": gettext("Undone."),
        "redone": gettext("Redone."),
        "mayGoOn": gettext("Box {number}: Enter, or another digit"),
        "sayMayGoOn": gettext("Box {number}: press Enter, or another digit."),
        "not-boxed": gettext("no box"),
        "scene": gettext("scene"),
        "not-visual": gettext("not seen"),
        "toDo": gettext("still to do"),
    }


def boxes_of(task: Task, config: CampaignConfig) -> list[NumberedBox]:
    """The boxes that the page of a task shows."""
    return numbered_boxes([task.image_id], parts=Correspondences.of(config).parts)[task.image_id]


def judge_payload(response: Response) -> dict[str, Any]:
    """The `caption`, and the `answer` in several forms.

    The answer has the caption with links in brackets, `links` and `kinds` by the numbers of the
    words in `tokens`, and the image's boxes.
    """
    task, said = response.task, response.correspondence.words
    caption, image = task.subject.text if task.subject else "", task.image.key
    shown = boxes_of(task, task.campaign.config)
    numbers = {box.key: box.number for box in shown}
    linked: dict[int, tuple[int, ...]] = {}
    # A submission may name a box that the campaign does not show. Ignore it.
    known_links = [(word, numbers[box]) for word, box in links(said) if box in numbers]
    for word, number in sorted(known_links):
        linked[word] = (*linked.get(word, ()), number)
    return {
        "caption": caption,
        "answer": {
            "brackets": bracketed(caption, linked),
            "tokens": [token._asdict() for token in tokens(caption)],
            "links": {
                str(word): [box_id(image, number) for number in boxes]
                for word, boxes in linked.items()
            },
            "kinds": {str(word): kind for word, kind in sorted(kinds(said).items())},
            "boxes": {
                box_id(image, box.number): {
                    "number": box.number,
                    "label": box.name,
                    "fractions": [box.x_min, box.y_min, box.x_max, box.y_max],
                }
                for box in shown
            },
        },
    }


class ReleasedPicture(NamedTuple):
    """An image and its released caption in passages, each with the numbers of its boxes."""

    image_url: str
    boxes: list[NumberedBox]
    named: set[int]
    passages: list[tuple[str, tuple[int, ...]]]


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
    boxes = {box.key: box for box in boxes_of(task, task.campaign.config)}
    # A submission may name a box that the campaign does not show. Ignore it.
    known_links = [(number, box) for number, box in links(words) if box in boxes]
    marked: dict[int, tuple[int | str, ...]] = {n: (kind,) for n, kind in kinds(words).items()}
    for number, box in sorted(known_links, key=lambda link: boxes[link[1]].number):
        marked[number] = (*marked.get(number, ()), box)
    caption = task.subject.text if task.subject else ""
    return LinkedCaption(
        display_url(task.image),
        list(boxes.values()),
        {boxes[box].number for _, box in known_links},
        [_piece(text, marks, boxes) for text, marks in brackets.passages(caption, marked)],
    )


def released_picture(image: ReleasedImage) -> ReleasedPicture:
    """A released caption and the image's boxes as they are now."""
    task = image.task
    shown = boxes_of(task, task.campaign.config)
    passages = list(brackets.read_bracketed(image.record["bracketed"]))
    named = {number for _, numbers in passages for number in numbers}
    return ReleasedPicture(display_url(task.image), shown, named, passages)


def _piece(
    text: str, marks: tuple[int | str, ...], boxes: dict[int, NumberedBox]
) -> dict[str, Any]:
    return {
        "text": text,
        "boxes": [boxes[mark] for mark in marks if isinstance(mark, int)],
        "kind": "".join(KIND_LABELS[WordKind(mark)] for mark in marks if isinstance(mark, str)),
    }
