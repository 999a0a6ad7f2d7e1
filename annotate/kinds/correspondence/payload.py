"""A worker's answer as programs are shown it: what each word refers to, and the boxes to choose
from. Boxes go by the ids that the files of a release have."""

from typing import Any

from annotate.kinds.correspondence.answers import kinds, links
from annotate.kinds.correspondence.brackets import bracketed
from annotate.kinds.correspondence.rules import rules_of
from annotate.kinds.correspondence.shown_boxes import numbered_boxes
from annotate.kinds.correspondence.writing import box_id
from annotate.language.tokens import tokens
from annotate.models import Response


def judge_payload(response: Response) -> dict[str, Any]:
    """The `caption` that was worked on, and in `answer` its links in brackets, as `links` and
    `kinds` by the words' numbers in `tokens`, and the image's boxes."""
    task, said = response.task, response.correspondence.words
    caption, image = task.subject.text if task.subject else "", task.image.key
    shown = numbered_boxes([task.image_id], parts=rules_of(task.campaign.config).parts)
    numbers = {box.key: box.number for box in shown[task.image_id]}
    linked: dict[int, tuple[int, ...]] = {}
    # What came by the marketplace may name a box that the campaign does not show.
    known = [(word, numbers[box]) for word, box in links(said) if box in numbers]
    for word, number in sorted(known):
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
                for box in shown[task.image_id]
            },
        },
    }
